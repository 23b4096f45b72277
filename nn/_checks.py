"""What the layers ask of their arguments."""

from typing import Any

import numpy as np

from minigrad import ArgumentError, DTypeError, OutOfRangeError, Tensor


def check_positive(**sizes: int) -> None:
    """Raise unless every size is a positive integer."""
    for name, size in sizes.items():
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 1:
            raise ArgumentError(f"{name} must be a positive integer, got {size!r}")


def as_input(x: Any, dtype: np.dtype[Any], layer: str) -> Tensor:
    """``x`` as a Tensor in the dtype that a layer computes in; the gradient comes back in the dtype of ``x``.

    Raises:
        DTypeError: ``x`` is complex.
    """
    if not isinstance(x, Tensor):
        x = Tensor(x, copy=False)
    if x.dtype == dtype:
        return x
    if x.dtype.kind == "c":
        raise DTypeError(f"{layer} computes in {dtype} and got a complex input of dtype {x.dtype}: take its .real part")
    return x.astype(dtype)


def beside(value: Any, array: Any) -> Any:
    """``value`` (an array or a Tensor of plain values) as an array of the same library as ``array``, on its device."""
    if isinstance(value, Tensor):
        value = value.data
    return value if type(value) is type(array) else np.asarray(value, like=array)


def as_ids(ids: Any, count: int, function: str) -> Any:
    """``ids`` as an array (or Tensor) of integers.

    Raises:
        DTypeError: they are no integers.
        OutOfRangeError: one is negative or not below ``count``.
    """
    ids = ids if hasattr(ids, "dtype") else np.asarray(ids)
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"{function} takes integer ids, got dtype {ids.dtype}")
    # Before the ids reach a device, where an index out of range would wrap round silently.
    if ids.size and (int(ids.min()) < 0 or int(ids.max()) >= count):
        worst = int(ids.min()) if int(ids.min()) < 0 else int(ids.max())
        raise OutOfRangeError(f"{function} got the id {worst}, but its vocabulary has {count} ids: 0 to {count - 1}")
    return ids


def check_real(x: Any, layer: str) -> Tensor:
    """``x`` as a Tensor.

    Raises:
        DTypeError: its dtype is not floating.
    """
    if not isinstance(x, Tensor):
        x = Tensor(x, copy=False)
    if x.dtype.kind != "f":
        raise DTypeError(f"{layer} needs a floating input, got dtype {x.dtype}")
    return x
