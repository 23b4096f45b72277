"""What the layers ask of their arguments."""

from numbers import Real
from typing import Any

import numpy as np

from minigrad import ArgumentError, DTypeError, MixedDevicesError, OutOfRangeError, ShapeError, Tensor
from minigrad.internal import as_array, check_range, fits, is_device_array, same_place, where_is


def check_positive(**sizes: int) -> None:
    """Raise unless every size is a positive integer."""
    _check_integers(1, "a positive integer", sizes)


def check_not_negative(**sizes: int) -> None:
    """Raise unless every size is an integer, 0 or more."""
    _check_integers(0, "an integer, 0 or more", sizes)


def _check_integers(least: int, words: str, sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < least:
            raise ArgumentError(f"{name} must be {words}, got {size!r}")


def check_interval(low: float, high: float, **values: float) -> None:
    """Raise unless every value is a finite number in [low, high]."""
    for name, value in values.items():
        if not isinstance(value, Real) or not low <= value <= high or value == np.inf:
            words = f"a number >= {low:g}" if high == np.inf else f"in [{low:g}, {high:g}]"
            raise ArgumentError(f"{name} must be {words}, got {value!r}")


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


def with_columns(x: Any, weight: Tensor, layer: str, what: str = "x") -> Tensor:
    """``x`` as :func:`as_input` gives it, for a layer whose weight has an entry (or a row) for each of its columns.

    Raises:
        ShapeError: it has another number of columns.
    """
    if fits(x, weight):
        return x
    x = as_input(x, weight.dtype, layer)
    if x.shape[-1:] != weight.shape[:1]:
        sizes = ", ".join(map(str, weight.shape))
        raise ShapeError(f"{layer}({sizes}) needs {what} of shape (..., {weight.shape[0]}), got {x.shape}")
    return x


def check_counts(layer: str, query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> None:
    """Raise unless all shapes (batch, length, width) are of one batch, and each key has a value."""
    if key[0] != query[0] or value[:2] != key[:2]:
        raise ShapeError(
            f"{layer} needs one batch size, and as many values as keys: got query {query}, key {key}, value {value}"
        )


def plain(value: Any) -> Any:
    """``value`` (an array, a list, or a Tensor of plain values) as an array, where it is.

    Raises:
        DTypeError: it is no array of numbers, see ``minigrad._operands.as_array``.
    """
    return value.data if isinstance(value, Tensor) else as_array(value)


def beside(value: Any, array: Any) -> Any:
    """``value`` (an array or a Tensor of plain values) as an array of the same library as ``array``, on its device.

    Raises:
        MixedDevicesError: ``value`` is on a device and ``array`` on the host, or on another device: nothing is fetched by
            itself.
    """
    if isinstance(value, Tensor):
        value = value.data
    if type(value) is type(array) and same_place(value, array):
        return value
    if is_device_array(value):
        target = where_is(array).removeprefix("on ") if is_device_array(array) else "cpu"
        raise MixedDevicesError(
            f"an argument of shape {value.shape} and dtype {value.dtype} is {where_is(value)}, and what it belongs to is "
            f"{where_is(array)}: move the model, model.to('cuda'), or the argument, "
            f"minigrad.device.to_device(argument, '{target}')"
        )
    return np.asarray(value, like=array)


def id_array(ids: Any, function: str) -> Any:
    """``ids`` as an array (or Tensor).

    Raises:
        DTypeError: they are no array of numbers.
        ShapeError: they are lists of different lengths.
    """
    try:
        return ids if isinstance(ids, Tensor) else as_array(ids)
    except DTypeError as error:
        if not isinstance(error.__cause__, ValueError):
            raise DTypeError(f"{function} takes integer ids: {error}") from error.__cause__
        raise ShapeError(
            f"{function} got lists of different lengths: pad them to one length, and say with a mask what is padding"
        ) from error


def as_ids(ids: Any, count: int, function: str) -> Any:
    """``ids`` as an array (or Tensor) of integers.

    Raises:
        ShapeError: they are lists of different lengths.
        DTypeError: they are no integers.
        OutOfRangeError: one is negative or not below ``count``.
    """
    ids = id_array(ids, function)
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"{function} takes integer ids, got dtype {ids.dtype}: pass ids.astype(int)")
    # Here rather than where they are used as indices, as one out of range would wrap round silently on a device.
    check_range(
        ids.data if isinstance(ids, Tensor) else ids,
        count,
        lambda worst: OutOfRangeError(
            f"{function} got the id {worst}, but its vocabulary has {count} ids: 0 to {count - 1}"
        ),
    )
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
