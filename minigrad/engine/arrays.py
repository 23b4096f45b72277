"""The door: what may be an operand is a number or an array of numbers, and what is neither becomes one here or is refused.

Behind the door rules meet ``numpy.ndarray`` itself, or the array of a device, and never a subclass or a container with an
arithmetic of its own: a ``np.matrix``, which multiplies as matrices do, would falsify a gradient without a word.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..device import is_device_array
from ..errors import DTypeError, UnsupportedError

_ndarray = np.ndarray
NUMBERS = "biufc"  # the kinds of dtype
SCALARS = frozenset(
    {float, int, bool, complex}
)  # these exactly: Python's own numbers, which are weak in NumPy's promotion
_UNCHANGING = frozenset({bool, int, float, complex, str, bytes, type(None), slice, type, np.dtype})


def owned_copy(array: Any) -> Any:
    return np.array(array) if isinstance(array, (np.ndarray, np.generic)) else array.copy()


def operand(value: Any) -> Any:
    """``value`` as what a rule can compute with.

    Raises:
        DTypeError: as :func:`as_array`; or ``value`` names its dimensions (xarray), and computes with a Tensor by itself.
    """
    kind = type(value)
    if kind in SCALARS or (kind is _ndarray and value.dtype.kind in NUMBERS):
        return value
    if isinstance(value, np.generic) and value.dtype.kind in NUMBERS:
        return value
    if hasattr(value, "dims") and hasattr(value, "values"):  # xarray's
        raise DTypeError(
            f"a {type(value).__name__} as an operand would lose its dimensions, and the .data of the result its gradient: pass "
            "the numbers, a.values"
        )
    return as_array(value)


def as_array(value: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """``np.array`` without subclasses; an array of a device stays there.

    Takes what gives NumPy an array of numbers: lists, subclasses of ``ndarray``, columns and frames of pandas, PyTorch's CPU
    tensors, and what exports DLPack.

    Raises:
        DTypeError: ``value`` is no array of numbers (text, dates, ragged lists, objects), or would lose what it says beside
            its numbers (a masked array its mask) or its form (a sparse matrix).
    """
    given = value
    if is_device_array(value):
        array = value.astype(dtype or value.dtype, copy=bool(copy))
    else:
        _refuse_masked(value)
        if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
            value = np.from_dlpack(value)
        try:
            if copy and hasattr(value, "__array__") and not isinstance(value, (np.ndarray, np.generic)):
                value = np.asarray(value, dtype)  # PyTorch's tensors do not know the word copy
            array = np.array(value, dtype=dtype, copy=copy)
        except UnsupportedError:
            raise
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise DTypeError(f"cannot make an array of numbers from {type(given).__name__}: {error}") from error
    if array.dtype.kind not in NUMBERS:
        raise DTypeError(
            f"cannot make an array of numbers from {type(given).__name__}, which gives dtype {array.dtype}: "
            f"{_way_out(given, array.dtype)}"
        )
    return array


def _refuse_masked(value: Any) -> None:
    masked = sys.modules.get("numpy.ma")  # where nobody has read it, there is no masked array
    if masked is None:
        return
    parts = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(part, masked.MaskedArray) for part in parts):
        raise DTypeError(
            "a masked array would lose its mask: pass a.filled(0.0), say, and leave out what a.mask says with "
            "np.where(a.mask, 0.0, result) or sum(where=~a.mask)"
        )


def _way_out(value: Any, dtype: np.dtype[Any]) -> str:
    if hasattr(value, "toarray"):
        return "pass a.toarray(), which has a number in every place"
    if columns := _columns_without_numbers(value):
        return f"{columns} no numbers: leave out such columns, or encode them as numbers (pandas.get_dummies does)"
    if hasattr(value, "astype") and dtype.kind in "OSTU":
        return "pass numbers, a.astype(float) if that is what they stand for"
    return "pass numbers (bool, integer, floating or complex)"


def _columns_without_numbers(value: Any) -> str:
    """Name the columns of a table, or a single column, that hold text or other objects: "the columns 'a', 'b' hold"."""
    if hasattr(value, "columns"):
        names = [str(name) for name in value.columns if np.asarray(value[name]).dtype.kind not in NUMBERS]
    else:
        names = [str(value.name)] if getattr(value, "name", None) is not None and hasattr(value, "to_numpy") else []
    if not names:
        return ""
    return f"the column{'s' * (len(names) > 1)} {', '.join(map(repr, names))} hold{'s' * (len(names) == 1)}"


def owned(keywords: dict[str, Any]) -> dict[str, Any]:
    """``keywords`` in memory that nobody else can write to: what the tape keeps must not change behind its back."""
    for value in keywords.values():
        if type(value) not in _UNCHANGING and not (type(value) is tuple and _cannot_change(value)):
            return {name: _copied(value) for name, value in keywords.items()}
    return keywords


def _cannot_change(values: Iterable[Any]) -> bool:
    for value in values:
        if type(value) not in _UNCHANGING and not (type(value) is tuple and _cannot_change(value)):
            return False
    return True


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([_copied(item) for item in value])
    if kind is dict:
        return {name: _copied(item) for name, item in value.items()}
    return value.copy() if hasattr(value, "copy") else value
