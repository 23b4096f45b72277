"""Helpers that remove, restore and move axes, shared by the rules of reductions."""

import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.methods import Axis
from ..engine.types import Array
from ..errors import OutOfRangeError

Shape = tuple[int, ...]


def with_keywords(function: Callable[..., Any], **keywords: Any) -> Callable[..., Any]:
    """Return ``function(a, ...)`` restricted to these keywords; their values are the defaults.

    Keywords that a call leaves out are not passed on, because CuPy lacks ``initial`` and ``where``.
    """

    def forward(a: Array, /, **passed: Any) -> Any:
        return function(a, **passed)

    kinds = inspect.Parameter
    parameters = [kinds("a", kinds.POSITIONAL_ONLY)]
    parameters += [kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=value) for name, value in keywords.items()]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    forward.__doc__ = function.__doc__
    forward.__wrapped__ = function  # type: ignore[attr-defined]
    return forward


def array_of(value: Any) -> Array:
    """Return ``np.asarray(value)``, but Tensors and device arrays unchanged."""
    return value if hasattr(value, "dtype") and hasattr(value, "ndim") else np.asarray(value)


def axes_of(ndim: int, axis: Axis) -> tuple[int, ...]:
    """Return the axes that ``axis`` names, counted from 0; none for a 0-d array, for which NumPy accepts axis=0."""
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis % ndim,)
    if axis is None or not ndim:
        return tuple(range(ndim))
    axes = tuple(operator.index(i) for i in (axis if isinstance(axis, tuple) else (axis,)))
    if any(not -ndim <= i < ndim for i in axes) or len({i % ndim for i in axes}) < len(axes):
        raise OutOfRangeError(
            f"axis={axis} of an array of {ndim} axes: they are 0 to {ndim - 1}, or negative, each once"
        )
    return tuple(i % ndim for i in axes)


def expand(g: Array, shape: Shape, axis: Axis) -> Array:
    """Restore the reduced axes with length 1, so that the result broadcasts against the input."""
    if axis is None or g.ndim == len(shape):
        return g
    reduced = axes_of(len(shape), axis)
    return np.reshape(g, tuple(1 if i in reduced else n for i, n in enumerate(shape)))


def at_least_float32(a: Array) -> Array:
    """Return float16 numbers as float32, and others unchanged. A count is never float16, which ends at 65504."""
    dtype = np.result_type(a.dtype, np.float32)
    return a if a.dtype == dtype else a.astype(dtype)


def count(shape: Shape, axis: Axis, where: Any = True) -> Any:
    """Return how many elements go into each result."""
    axes = axes_of(len(shape), axis)
    if where is True:
        return math.prod(shape[i] for i in axes)
    return np.sum(np.broadcast_to(where, shape), axis=axes, keepdims=True)


def rows_of(a: Array, axis: Axis) -> Array:
    """Move one axis to the end, or merge several into one last axis: (..., n)."""
    if axis is not None and np.ndim(axis) == 0 and a.ndim:
        return np.swapaxes(a, axis, -1)  # type: ignore[arg-type]
    kept, reduced = _split_axes(a.ndim, axis)
    shape = (*(a.shape[i] for i in kept), math.prod(a.shape[i] for i in reduced))
    return np.reshape(np.transpose(a, kept + reduced), shape)


def from_rows(rows: Array, shape: Shape, axis: Axis) -> Array:
    """Invert ``rows_of``."""
    if axis is not None and np.ndim(axis) == 0 and shape:
        return np.swapaxes(rows, axis, -1)  # type: ignore[arg-type]
    kept, reduced = _split_axes(len(shape), axis)
    order = kept + reduced
    return np.transpose(np.reshape(rows, tuple(shape[i] for i in order)), tuple(np.argsort(order).tolist()))


def _split_axes(ndim: int, axis: Axis) -> tuple[tuple[int, ...], tuple[int, ...]]:
    reduced = axes_of(ndim, axis)
    return tuple(i for i in range(ndim) if i not in reduced), reduced
