"""Which library an array belongs to, and the few things NumPy's protocols cannot do for another one.

Arithmetic needs none of this: NumPy hands every ufunc and array function to the array's own library (NEP 13, NEP 18).
"""

from typing import Any

import numpy as np

from .errors import DTypeError, UnsupportedError


def is_device_array(value: object) -> bool:
    """Whether ``value`` is an array of another library that follows NumPy's protocols, such as ``cupy.ndarray``."""
    kind = type(value)
    return (
        not issubclass(kind, (np.ndarray, np.generic))
        and hasattr(kind, "__array_function__")
        and hasattr(kind, "__array_ufunc__")
        and hasattr(kind, "shape")
    )


def as_array(value: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """``np.asarray``, but an array of another library stays there.

    Raises:
        DTypeError: the value is no array of numbers (text, ragged lists, arbitrary objects).
    """
    if is_device_array(value):
        array = value.astype(dtype or value.dtype, copy=bool(copy))
    else:
        try:
            array = np.array(value, dtype=dtype, copy=copy)
        except UnsupportedError:
            raise
        except (TypeError, ValueError) as error:
            raise DTypeError(f"cannot make an array of numbers from {type(value).__name__}: {error}") from error
    if array.dtype.kind not in "biufc":
        raise DTypeError(
            f"cannot make a Tensor of dtype {array.dtype} from {type(value).__name__}: "
            "pass numbers (bool, integer, floating or complex)"
        )
    return array


def to_host(array: Any) -> Any:
    """``array`` as a NumPy array; the same object if it is one already."""
    return array.get() if is_device_array(array) else array


def arange(stop: int, like: Any) -> Any:
    """``np.arange(stop)`` in the library of the array ``like`` (NEP 35)."""
    return np.arange(stop, like=like)
