"""Which library an array belongs to, and the few things NumPy's protocols cannot do for another one.

Arithmetic needs none of this: NumPy hands every ufunc and array function to the array's own library (NEP 13, NEP 18).
"""

from typing import Any

import numpy as np

from .errors import ArgumentError, DeviceError, DTypeError, UnsupportedError, import_extra


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


def to_device(array: Any, device: str) -> Any:
    """``array`` on "cpu" or "cuda" ("cuda:1" is the second GPU); the same object if it is there already.

    Raises:
        ArgumentError: there is no such kind of device.
        MissingExtraError: CuPy is not installed.
        DeviceError: CuPy finds no GPU or no driver.
    """
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return to_host(array)
    if kind != "cuda" or (number and not number.isdecimal()):
        raise ArgumentError(f"device must be 'cpu', 'cuda' or 'cuda:N', got {device!r}")
    cupy = import_extra("cupy", "gpu", f"device='{device}'")
    try:
        with cupy.cuda.Device(int(number or 0)):
            return cupy.asarray(array)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(
            f"device='{device}' cannot be used ({error}): check that nvidia-smi lists this GPU, or use device='cpu'"
        ) from error


def arange(stop: int, like: Any) -> Any:
    """``np.arange(stop)`` in the library of the array ``like`` (NEP 35)."""
    return np.arange(stop, like=like)
