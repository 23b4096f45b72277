"""Check and convert the arguments of layers and models."""

from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from minigrad import ArgumentError, DTypeError, MixedDevicesError, OutOfRangeError, ShapeError, Tensor
from minigrad.internal import Array, TensorLike, as_array, check_range, is_device_array, same_place, where_is

from ._promotion import warn_if_promoted

Size: TypeAlias = int | tuple[int, ...]  # one number, or one for each axis


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


def per_axis(axes: int, least: int, **sizes: Any) -> tuple[int, ...]:
    """Return one number for each axis, from an integer or a tuple of ``axes`` integers that are ``least`` or more."""
    ((name, size),) = sizes.items()
    given = tuple(size) if isinstance(size, (tuple, list)) else (size,) * axes
    if len(given) != axes:
        raise ArgumentError(f"{name} must be an integer or a tuple of {axes}, got {size!r}")
    for number in given:
        (check_positive if least else check_not_negative)(**{name: number})
    return tuple(map(int, given))


def check_interval(low: float, high: float, **values: float) -> None:
    """Raise unless every value is a finite number in [low, high]."""
    for name, value in values.items():
        if not isinstance(value, Real) or not low <= value <= high or value == np.inf:
            words = f"a number >= {low:g}" if high == np.inf else f"in [{low:g}, {high:g}]"
            raise ArgumentError(f"{name} must be {words}, got {value!r}")


def as_number(low: float = -np.inf, high: float = np.inf, **value: float) -> float:
    """Return a number in [low, high] as a Python float: one of NumPy would promote float32 arrays, and those of a state."""
    ((name, number),) = value.items()
    number = number.item() if isinstance(number, np.ndarray) and not number.ndim else number
    check_interval(low, high, **{name: number})
    return float(number)


def as_input(x: "TensorLike", dtype: np.dtype[Any], layer: str) -> Tensor:
    """Return ``x``, which must be real, as a Tensor in the dtype of a layer; its gradient has the dtype of ``x``."""
    if not isinstance(x, Tensor):
        x = Tensor(x, copy=False)
    if x.dtype == dtype:
        return x
    if x.dtype.kind == "c":
        raise DTypeError(f"{layer} computes in {dtype} and got a complex input of dtype {x.dtype}: take its .real part")
    if x.dtype == np.float64 and dtype == np.float32:
        warn_if_promoted(x, layer)
    return x.astype(dtype)


def as_parameter(value: "TensorLike", x: "TensorLike") -> Tensor | Array:
    """Return a weight as an array or a Tensor of numbers to compute in: integers and booleans get the dtype of a floating x.

    A function casts x to the dtype of its weight, as a layer does. As an integer 0.5 would be 0, and 200 + 200 in uint8 144.
    """
    weight, dtype = as_given(value), getattr(x, "dtype", np.dtype(float))
    return weight if weight.dtype.kind in "fc" else weight.astype(dtype if dtype.kind == "f" else float)


def with_columns(x: "TensorLike", weight: Tensor, layer: str, what: str = "x") -> Tensor:
    """Return ``as_input(x)``; raise a ShapeError unless ``x`` has a column for each row (or element) of ``weight``."""
    x = as_input(x, weight.dtype, layer)
    if x.shape[-1:] != weight.shape[:1]:
        sizes = ", ".join(map(str, weight.shape))
        raise ShapeError(f"{layer}({sizes}) needs {what} of shape (..., {weight.shape[0]}), got {x.shape}")
    return x


def check_counts(layer: str, query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> None:
    """Raise unless all shapes (batch, length, width) have the same batch size, and each key has a value."""
    if key[0] != query[0] or value[:2] != key[:2]:
        raise ShapeError(
            f"{layer} needs one batch size, and as many values as keys, got query {query}, key {key}, value {value}"
        )


def as_given(value: "TensorLike") -> Tensor | Array:
    """Return an array or a Tensor unchanged, and anything else as a NumPy array."""
    return value if hasattr(value, "dtype") else np.asarray(value)


def plain(value: "TensorLike") -> NDArray[Any] | Array:
    """Return the values of an array, a list or a Tensor as an array, on their device; raise a DTypeError if not numbers."""
    return value.data if isinstance(value, Tensor) else as_array(value)


def beside(value: Any, array: Array) -> NDArray[Any] | Array:
    """Return the values of an array, a list or a Tensor as an array of the library of ``array``, on its device.

    Raise a MixedDevicesError if this would copy from a device, because nothing is copied from a device implicitly.
    """
    if isinstance(value, Tensor):
        value = value.data
    if type(value) is type(array) and same_place(value, array):
        return value
    if is_device_array(value):
        target = where_is(array).removeprefix("on ") if is_device_array(array) else "cpu"
        raise MixedDevicesError(
            f"an argument of shape {value.shape} and dtype {value.dtype} is {where_is(value)}, and the array it is used with "
            f"is {where_is(array)}: move the model, model.to('cuda'), or the argument, "
            f"minigrad.device.to_device(argument, '{target}')"
        )
    return np.asarray(value, like=array)


def id_array(ids: "TensorLike", function: str) -> Tensor | Array:
    """Return ``ids`` as an array, or unchanged if a Tensor; raise a ShapeError for lists of different lengths."""
    try:
        return ids if isinstance(ids, Tensor) else as_array(ids)
    except DTypeError as error:
        if not isinstance(error.__cause__, ValueError):
            raise DTypeError(f"{function} takes integer ids: {error}") from error.__cause__
        raise ShapeError(
            f"{function} got lists of different lengths: pad them to one length, and mark the padding with a mask"
        ) from error


def id_matrix(ids: "TensorLike", function: str, what: str = "ids of shape (batch, length)") -> Tensor | Array:
    """Return ``id_array(ids)``; raise a ShapeError unless it has two axes."""
    ids = id_array(ids, function)
    if ids.ndim != 2:
        raise ShapeError(f"{function} needs {what}, got {ids.shape}")
    return ids


def as_ids(ids: "TensorLike", count: int, function: str) -> Tensor | Array:
    """Return ``id_array(ids)``, which must hold integers (DTypeError) from 0 to ``count - 1`` (OutOfRangeError)."""
    ids = id_array(ids, function)
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"{function} takes integer ids, got dtype {ids.dtype}: pass ids.astype(int)")
    # Checked here, because indexing on a device wraps an index that is out of range instead of raising.
    check_range(
        ids.data if isinstance(ids, Tensor) else ids,
        count,
        lambda worst: OutOfRangeError(
            f"{function} got the id {worst}, but its vocabulary has {count} ids: 0 to {count - 1}"
        ),
    )
    return ids


def check_real(x: "TensorLike", layer: str) -> Tensor:
    """Return ``x`` as a Tensor; raise a DTypeError unless its dtype is floating."""
    if not isinstance(x, Tensor):
        x = Tensor(x, copy=False)
    if x.dtype.kind != "f":
        raise DTypeError(f"{layer} needs a floating input, got dtype {x.dtype}")
    return x
