"""Check and convert the arguments of layers and models."""

import math
import os
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from minigrad import ArgumentError, DTypeError, MixedDevicesError, OutOfRangeError, ShapeError, Tensor
from minigrad.internal import Array, TensorLike, as_array, check_range, is_device_array, same_place, where_is

from ._promotion import warn_if_promoted

KINDS: dict[str, Any] = {  # what an argument may be, in the words of an error
    "True or False": (bool, np.bool_),
    "a text": str,
    "a path": (str, os.PathLike),
    "a dictionary": Mapping,
    "a list": (list, tuple, np.ndarray),
}
Size: TypeAlias = int | tuple[int, ...]  # one number, or one for each axis


def check_kind(words: str, kind: Any = None, /, **values: Any) -> None:
    """Raise unless every value is an instance of ``kind``, by default of the one of ``KINDS`` that ``words`` describe."""
    for name, value in values.items():
        if not isinstance(value, kind or KINDS[words]):
            raise ArgumentError(f"{name} must be {words}, got {shown(value)}")


def check_callable(**functions: Any) -> None:
    """Raise unless every value is a function or another object that can be called."""
    for name, function in functions.items():
        if not callable(function):
            raise ArgumentError(f"{name} must be a function, got {shown(function)}")


def check_choice(choices: Collection[str], **values: Any) -> None:
    """Raise unless every value is one of the texts ``choices``."""
    for name, value in values.items():
        if not isinstance(value, str) or value not in choices:
            *others, last = map(repr, choices)
            raise ArgumentError(f"{name} must be {', '.join(others)} or {last}, got {shown(value)}")


def check_texts(**values: Any) -> None:
    """Raise unless every value is a list of texts."""
    for name, texts in values.items():
        if not isinstance(texts, (list, tuple, np.ndarray)) or not all(isinstance(text, str) for text in texts):
            raise ArgumentError(f"{name} must be a list of texts, got {shown(texts)}")


def check_dtype(dtype: Any, kinds: str = "fc") -> np.dtype[Any]:
    """Return a dtype of one of the ``kinds``, by default one that parameters can have."""
    try:  # an array and None give a dtype, too, but not one that anybody chose
        found = None if dtype is None or isinstance(dtype, (np.generic, np.ndarray, Tensor)) else np.dtype(dtype)
    except (TypeError, ValueError):
        found = None
    if found is None or found.kind not in kinds:
        words = "a floating dtype" if kinds == "fc" else "a dtype of numbers"
        raise DTypeError(f"dtype must be {words}, such as np.float32, got {shown(dtype)}")
    return found


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None, for the check of arguments that may be left out."""
    return {name: value for name, value in values.items() if value is not None}


def shown(value: Any) -> str:
    """Return a value as an error shows it: its repr, or its type if the repr is long."""
    text = repr(value)
    return text if len(text) <= 80 and "\n" not in text else type(value).__name__


def check_positive(**sizes: int) -> None:
    """Raise unless every size is a positive integer."""
    _check_integers(1, "a positive integer", sizes)


def check_not_negative(**sizes: int) -> None:
    """Raise unless every size is an integer, 0 or more."""
    _check_integers(0, "an integer, 0 or more", sizes)


def check_integer(**values: int) -> None:
    """Raise unless every value is an integer."""
    _check_integers(-math.inf, "an integer", values)


def _check_integers(least: float, words: str, sizes: dict[str, int]) -> None:
    for name, size in sizes.items():
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < least:
            raise ArgumentError(f"{name} must be {words}, got {shown(size)}")


def per_axis(axes: int, least: int, **sizes: Any) -> tuple[int, ...]:
    """Return one number for each axis, from an integer or a tuple of ``axes`` integers that are ``least`` or more."""
    ((name, size),) = sizes.items()
    given = tuple(size) if isinstance(size, (tuple, list)) else (size,) * axes
    if len(given) != axes:
        raise ArgumentError(f"{name} must be an integer or a tuple of {axes}, got {shown(size)}")
    for number in given:
        (check_positive if least else check_not_negative)(**{name: number})
    return tuple(map(int, given))


def check_interval(low: float, high: float, end: str = "]", /, **values: float) -> None:
    """Raise unless every value is a finite number in [low, high], or in [low, high) if ``end`` is ")"."""
    for name, value in values.items():
        within = is_number(value) and low <= value <= high and (end == "]" or value < high)
        if not within or abs(value) == np.inf:
            words = "a finite number" if low == -np.inf else f"a number >= {low:g}"
            words = words if high == np.inf else f"in [{low:g}, {high:g}{end}"
            raise ArgumentError(f"{name} must be {words}, got {shown(value)}")


def as_number(low: float = -np.inf, high: float = np.inf, end: str = "]", /, **value: float) -> float:
    """Return the value, checked as by :func:`check_interval`, as a Python float: one of NumPy would promote float32 arrays."""
    check_interval(low, high, end, **value)
    (number,) = value.values()
    return float(number)


def check_above_zero(**values: float) -> None:
    """Raise unless every value is a number above 0; infinity is one."""
    for name, value in values.items():
        if not is_number(value) or not value > 0:
            raise ArgumentError(f"{name} must be {'positive' if is_number(value) else 'a number'}, got {shown(value)}")


def check_probability(**values: float) -> None:
    """Raise unless every value is a number in [0, 1), as a probability with which elements are dropped is."""
    check_interval(0, 1, ")", **values)


def is_number(value: Any) -> bool:
    """Return whether a value is one real number, also as an array without axes; True and False are none."""
    value = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def as_input(x: "TensorLike", dtype: np.dtype[Any], layer: str, name: str = "x") -> Tensor:
    """Return ``x``, which must be real, as a Tensor in the dtype of a layer; its gradient has the dtype of ``x``."""
    if not isinstance(x, Tensor):
        x = as_tensor(x, layer, name)
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
    weight, dtype = as_given(value, "weight"), getattr(x, "dtype", np.dtype(float))
    return weight if weight.dtype.kind in "fc" else weight.astype(dtype if dtype.kind == "f" else float)


def with_columns(x: "TensorLike", weight: Tensor, layer: str, what: str = "x") -> Tensor:
    """Return ``as_input(x)``; raise a ShapeError unless ``x`` has a column for each row (or element) of ``weight``."""
    x = as_input(x, weight.dtype, layer, what)
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


def as_tensor(x: "TensorLike", layer: str, name: str = "x") -> Tensor:
    """Return ``x`` as a Tensor; the error for what is no array of numbers names it and the layer."""
    try:
        return x if isinstance(x, Tensor) else Tensor(x, copy=False)
    except DTypeError as error:
        raise DTypeError(f"{name} of {layer}: {error}") from error.__cause__


def as_given(value: "TensorLike", name: str = "an argument") -> Tensor | Array:
    """Return an array or a Tensor unchanged, and anything else as ``plain`` does; an error names the argument."""
    return value if hasattr(value, "dtype") else plain(value, name)


def plain(value: "TensorLike", name: str = "an argument") -> NDArray[Any] | Array:
    """Return the values of an array, a list or a Tensor as an array, on their device; raise a DTypeError if not numbers."""
    if isinstance(value, Tensor):
        return value.data
    try:
        return as_array(value)
    except DTypeError as error:
        raise DTypeError(f"{name}: {error}") from error.__cause__


def plain_numbers(value: "TensorLike", name: str) -> NDArray[Any] | Array:
    """Return ``plain(value)``, which must be real (DTypeError)."""
    array = plain(value, name)
    if array.dtype.kind not in "biuf":
        raise DTypeError(f"{name} must be real numbers, got dtype {array.dtype}")
    return array


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


def check_real(x: "TensorLike", layer: str, name: str = "x") -> Tensor:
    """Return ``x`` as a Tensor; raise a DTypeError unless its dtype is floating."""
    if not isinstance(x, Tensor):
        x = as_tensor(x, layer, name)
    if x.dtype.kind != "f":
        raise DTypeError(f"{layer} needs a floating input, got dtype {x.dtype}")
    return x
