"""``np.pad`` in all its modes, except "empty" and user-defined functions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import zeros
from ..engine.functions import composite
from ..engine.primitive import Primitive, primitive
from ..engine.signatures import new_array
from ..engine.types import Array
from ..errors import ArgumentError, UnsupportedError
from .about import about
from .indexing import placed

Shape = tuple[int, ...]
Widths = tuple[tuple[int, int], ...]
_COPYING = ("edge", "reflect", "symmetric", "wrap")  # the new elements are copies of old ones
_PICKING: dict[str, Callable[..., Any]] = {"maximum": np.max, "minimum": np.min, "median": np.median}


def _widths(pad_width: Any, ndim: int) -> Widths:
    """Return (before, after) for each axis, from any form that NumPy accepts."""
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = (width, width) if np.ndim(width) == 0 else tuple(width)
        pad_width = pairs
    if type(pad_width) is int and pad_width >= 0:
        return ((pad_width, pad_width),) * ndim
    widths = np.asarray(pad_width)
    if ndim and widths.dtype.kind not in "iu":
        raise ArgumentError(f"pad needs integer widths, got {pad_width!r}")
    if (widths < 0).any():
        raise ArgumentError(f"pad cannot take a negative width, got {pad_width!r}: use slices to remove elements")
    return tuple([(before, after) for before, after in np.broadcast_to(widths, (ndim, 2)).tolist()])


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    if mode == "empty" or not isinstance(mode, str):
        raise UnsupportedError(f"pad of a Tensor does not take mode={mode!r}: use mode='constant' or np.concatenate")
    width = _widths(pad_width, array.ndim)
    if not width:
        return np.copy(array)
    if mode == "constant":
        return pad_constant(array, width=width, options=kwargs)
    if mode in _COPYING and kwargs in ({}, {"reflect_type": "even"}):
        return pad_copies(array, width=width, mode=mode)
    return pad_mode(array, width=width, mode=mode, options=kwargs)


def _pad_mode(array: Array, width: Widths, mode: str, options: dict[str, Any]) -> Any:
    """Pad one axis after the other, as NumPy does. The padding of an axis also covers the padding of the axes before it."""
    for axis, (before, after) in enumerate(width):
        if not before and not after:
            continue
        if mode in _PICKING:
            array = _with_extremes(array, axis, (before, after), _PICKING[mode], options.get("stat_length"))
        else:
            array = _weighted(array, axis, (before, after), mode, options)
    return array


def _weighted(array: Array, axis: int, width: tuple[int, int], mode: str, options: dict[str, Any]) -> Array:
    """Multiply by the padded identity matrix. Only derivatives use the result, so constants (``end_values``) are left out."""
    chosen = {name: value for name, value in options.items() if name != "end_values" and value is not None}
    if "stat_length" in chosen:
        chosen["stat_length"] = (_of_axis(chosen["stat_length"], axis, array.ndim), (1, 1))
    matrix = np.pad(np.eye(array.shape[axis]), (width, (0, 0)), mode, **chosen)  # type: ignore[call-overload]
    weights = np.asarray(matrix.T.astype(array.dtype), like=array._array)
    return np.moveaxis(np.matmul(np.moveaxis(array, axis, -1), weights), -1, axis)


def _of_axis(option: Any, axis: int, ndim: int) -> tuple[int, int]:
    before, after = np.broadcast_to(np.asarray(option), (ndim, 2))[axis].tolist()
    return before, after


def _with_extremes(array: Array, axis: int, width: tuple[int, int], extreme: Any, stat_length: Any) -> Array:
    n, here = array.shape[axis], (slice(None),) * axis
    k, m = (n, n) if stat_length is None else _of_axis(stat_length, axis, array.ndim)
    sides = (array[(*here, slice(0, k))], array[(*here, slice(max(n - m, 0), n))])
    first, last = (np.repeat(extreme(side, axis=axis, keepdims=True), count, axis) for side, count in zip(sides, width))
    return np.concatenate([first, array, last], axis=axis)


def sources(shape: Shape, width: Widths, mode: Any, like: Any = None) -> Array:
    """Return for each element of the result the flat position of the one that it copies."""
    return _padded(np.reshape(np.arange(math.prod(shape), like=like), shape), width, mode, {})


def _padded(array: Array, /, width: Widths, mode: str, options: dict[str, Any]) -> Array:
    """Call ``np.pad``, or do without it where CuPy's differs: it has no "median" and another "wrap"."""
    if type(array) is np.ndarray or not array.size or mode not in ("median", "wrap"):
        return np.pad(array, width, mode, **options)  # type: ignore[call-overload]
    if mode == "median":
        return _pad_mode(array, width, mode, options)
    for axis, (before, after) in enumerate(width):
        n = array.shape[axis]
        array = np.take(array, np.arange(-before, n + after, like=array) % n, axis)
    return array


def _fold(padded: Array, /, shape: Shape, width: Widths, mode: Any) -> Array:
    """Add each element of a padded array to the one that it was copied from."""
    index = sources(shape, width, mode, padded)
    return np.reshape(placed(padded, index, (math.prod(shape),)), shape)


def _inside(width: Widths, shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(before, before + n) for (before, _), n in zip(width, shape))


def _pad_constant(array: Array, /, width: Widths, options: dict[str, Any]) -> Array:
    if options:
        return np.pad(array, width, "constant", **options)
    ans = zeros(tuple(sum(pair) + n for pair, n in zip(width, array.shape)), array)
    ans[_inside(width, array.shape)] = array
    return ans


pad_constant = primitive(_pad_constant, name="pad").vjp(
    array=lambda g, array_shape, width: g[_inside(width, array_shape)]
)
pad_copies: Primitive = primitive(lambda array, /, width, mode: _padded(array, width, mode, {}), name="pad_copies").vjp(
    array=new_array(lambda g, array_shape, width, mode: fold(g, shape=array_shape, width=width, mode=mode))
)
fold: Primitive = primitive(_fold, name="fold").vjp(padded=lambda g, width, mode: pad_copies(g, width=width, mode=mode))
pad_mode = primitive(_padded, name="pad_mode").reference(_pad_mode)
pad = composite(np.pad, _pad)
about(pad_constant, formulas={"array": "g, without the padding"})
about(pad_copies, pad_mode, formulas={"array": "g, with each padded element added to its source"})
about(fold, formulas={"padded": "g, padded in the same way"})
