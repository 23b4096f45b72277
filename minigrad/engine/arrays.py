"""Check and convert operands. An operand is a number or an array of numbers; other values are converted to arrays or refused.

As a result, rules compute only with plain ``numpy.ndarray`` objects or device arrays. Subclasses and containers may define
their own arithmetic. For example, ``*`` is the matrix product for ``np.matrix``, which would silently make a gradient wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..device import is_device_array
from ..errors import DTypeError, UnsupportedError
from .types import Array

_ndarray = np.ndarray
NUMBERS = "biufc"  # the kinds of dtype that are numbers
SCALARS = frozenset({float, int, bool, complex})  # exact types; they leave a float32 array float32
_IMMUTABLE = frozenset({bool, int, float, complex, str, bytes, type(None), slice, type, np.dtype})


def copied(array: Array) -> Any:
    return np.array(array) if isinstance(array, (np.ndarray, np.generic)) else array.copy()


def operand(value: Any) -> Any:
    """Return ``value`` as a number or an array that rules can compute with.

    Raises:
        DTypeError: :func:`as_array` refuses ``value``, or ``value`` is an array with named dimensions (xarray), which has its
            own arithmetic.
    """
    kind = type(value)
    if kind in SCALARS or (kind is _ndarray and value.dtype.kind in NUMBERS):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in NUMBERS:
        return value
    if hasattr(value, "dims") and hasattr(value, "values"):  # an array of xarray
        raise DTypeError(
            f"a {type(value).__name__} cannot be an operand: the result would be a Tensor, which has no named dimensions, and "
            "xarray would read its .data without the gradient. Pass the numbers, a.values"
        )
    return as_array(value)


def as_array(value: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """Convert ``value`` to a plain ndarray, not a subclass. A device array stays on its device.

    ``value`` may be a list, a subclass of ``ndarray``, a pandas Series or DataFrame, a PyTorch CPU tensor, or any other
    object that NumPy converts to an array of numbers or that exports DLPack.

    Raises:
        DTypeError: ``value`` does not become an array of numbers (text, dates, ragged lists, objects), or the conversion would
            lose information: the mask of a masked array, the sparsity of a sparse matrix.
    """
    if type(value) is _ndarray and dtype is None and not copy and value.dtype.kind in NUMBERS:
        return value
    given = value
    if is_device_array(value):
        array = value.astype(dtype or value.dtype, copy=bool(copy))
    else:
        _refuse_masked(value)
        value = _without_gaps(value) if hasattr(value, "isna") else value
        if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
            value = np.from_dlpack(value)
        try:
            if copy and hasattr(value, "__array__") and not isinstance(value, (np.ndarray, np.generic)):
                value = np.asarray(value, dtype)  # PyTorch's __array__ has no `copy` argument
            array = np.array(value, dtype=dtype, copy=copy)
        except UnsupportedError:
            raise
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise DTypeError(f"cannot make an array of numbers from {type(given).__name__}: {error}") from error
    if array.dtype.kind not in NUMBERS:
        raise DTypeError(
            f"cannot make an array of numbers from {type(given).__name__}, which gives dtype {array.dtype}: "
            f"{_remedy(given, array.dtype)}"
        )
    return array


def check_differentiable(dtype: np.dtype[Any]) -> None:
    """Raise DTypeError for a dtype that has no derivative."""
    if dtype.kind not in "fc":
        raise DTypeError(
            f"requires_grad=True needs a floating or complex dtype, got {dtype}, which has no derivative: "
            "pass floats (2.0 rather than 2) or dtype=float"
        )


def _refuse_masked(value: Any) -> None:
    masked = sys.modules.get("numpy.ma")  # if numpy.ma was never imported, no masked array exists
    if masked is None:
        return
    parts = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(part, masked.MaskedArray) for part in parts):
        raise DTypeError(
            "a masked array would lose its mask: pass a.filled(0.0), for example, and leave out the masked elements with "
            "np.where(a.mask, 0.0, result) or sum(where=~a.mask)"
        )


def _without_gaps(value: Any) -> Any:
    """Return a nullable column or table of pandas, which may hold numbers, as it is or as an array.

    Raises:
        DTypeError: a nullable column has gaps (``pandas.NA``), which no number stands for.
    """
    table = hasattr(value, "columns")
    columns = [value.iloc[:, i] for i in range(len(value.columns))] if table else [value]
    dtypes = [getattr(column, "dtype", None) for column in columns]
    if all(isinstance(dtype, np.dtype) for dtype in dtypes):
        return value
    for column, dtype in zip(columns, dtypes):
        if (
            not isinstance(dtype, np.dtype)
            and getattr(dtype, "kind", "O") in NUMBERS
            and (gaps := int(column.isna().sum()))
        ):
            name = getattr(column, "name", None)
            which = f"the column '{name}'" if name is not None else f"a {type(column).__name__} of dtype {dtype}"
            raise DTypeError(
                f"{which} has {gaps} gap(s) (pandas.NA), which no number stands for: fill them (fillna), leave these rows out "
                "(dropna), or mark them as NaN (to_numpy(float, na_value=numpy.nan))"
            )
    arrays = [np.asarray(column) for column in columns]
    numbers = table and columns and all(array.dtype.kind in NUMBERS for array in arrays)
    return np.stack(arrays, axis=-1) if numbers else value


def _remedy(value: Any, dtype: np.dtype[Any]) -> str:
    if hasattr(value, "toarray"):
        return "pass a.toarray(), which is dense"
    if columns := _columns_without_numbers(value):
        return f"{columns} no numbers: leave out such columns, or encode them as numbers (pandas.get_dummies does)"
    if hasattr(value, "astype") and dtype.kind in "OSTU":
        return "pass numbers, or a.astype(float) if the elements represent numbers"
    return "pass numbers (bool, integer, floating or complex)"


def _columns_without_numbers(value: Any) -> str:
    """Return "the columns 'a', 'b' hold" for a DataFrame's non-numeric columns or a named Series, and "" for other values."""
    if hasattr(value, "columns"):
        names = [str(name) for name in value.columns if np.asarray(value[name]).dtype.kind not in NUMBERS]
    else:
        names = [str(value.name)] if getattr(value, "name", None) is not None and hasattr(value, "to_numpy") else []
    if not names:
        return ""
    return f"the column{'s' * (len(names) > 1)} {', '.join(map(repr, names))} hold{'s' * (len(names) == 1)}"


def owned_keywords(keywords: dict[str, Any]) -> dict[str, Any]:
    """Return ``keywords`` with copies of values that can change, so that the caller cannot change what the tape keeps."""
    for value in keywords.values():
        if type(value) not in _IMMUTABLE and not (type(value) is tuple and _immutable(value)):
            return {name: _deep_copy(value) for name, value in keywords.items()}
    return keywords


def _immutable(values: Iterable[Any]) -> bool:
    return all(type(value) in _IMMUTABLE or (type(value) is tuple and _immutable(value)) for value in values)


def _deep_copy(value: Any) -> Any:
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([_deep_copy(item) for item in value])
    if kind is dict:
        return {name: _deep_copy(item) for name, item in value.items()}
    return value.copy() if hasattr(value, "copy") else value
