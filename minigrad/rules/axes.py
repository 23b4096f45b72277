"""Axes taken away, given back and moved: what the rules of reductions share."""

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


def taking(function: Callable[..., Any], **keywords: Any) -> Callable[..., Any]:
    """``function(a, ...)`` with these keywords, given with their defaults, and no others.

    What a call leaves out is not passed on: CuPy lacks ``initial`` and ``where``.
    """

    def forward(a: Array, /, **given: Any) -> Any:
        return function(a, **given)

    kinds = inspect.Parameter
    parameters = [kinds("a", kinds.POSITIONAL_ONLY)]
    parameters += [kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=value) for name, value in keywords.items()]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    forward.__doc__ = function.__doc__
    return forward


def array_of(value: Any) -> Array:
    """``np.asarray``, but Tensors and device arrays stay what they are."""
    return value if hasattr(value, "dtype") and hasattr(value, "ndim") else np.asarray(value)


def axes_of(ndim: int, axis: Axis) -> tuple[int, ...]:
    """The axes that ``axis`` names, counted from 0. (Of a 0-d array none: NumPy lets axis=0 pass.)"""
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
    """Give a reduced array its reduced axes back, with length 1, so that it broadcasts against the input."""
    if axis is None or g.ndim == len(shape):
        return g
    reduced = axes_of(len(shape), axis)
    return np.reshape(g, tuple(1 if i in reduced else n for i, n in enumerate(shape)))


def count(shape: Shape, axis: Axis, where: Any = True) -> Any:
    """How many elements go into each result."""
    axes = axes_of(len(shape), axis)
    if where is True:
        return math.prod(shape[i] for i in axes)
    return np.sum(np.broadcast_to(where, shape), axis=axes, keepdims=True)


def rows_of(a: Array, axis: Axis) -> Array:
    """(..., n): the reduced axes laid out as one, at the end."""
    kept, reduced = _split_axes(a.ndim, axis)
    shape = (*(a.shape[i] for i in kept), math.prod(a.shape[i] for i in reduced))
    return np.reshape(np.transpose(a, kept + reduced), shape)


def from_rows(rows: Array, shape: Shape, axis: Axis) -> Array:
    """``rows_of`` undone."""
    kept, reduced = _split_axes(len(shape), axis)
    order = kept + reduced
    return np.transpose(np.reshape(rows, tuple(shape[i] for i in order)), tuple(np.argsort(order).tolist()))


def _split_axes(ndim: int, axis: Axis) -> tuple[tuple[int, ...], tuple[int, ...]]:
    reduced = axes_of(ndim, axis)
    return tuple(i for i in range(ndim) if i not in reduced), reduced


def to_last(a: Array, axis: int | None) -> Array:
    """``axis`` at the end; without one, the array laid out flat."""
    return np.reshape(a, (-1,)) if axis is None or not a.ndim else np.swapaxes(a, axis, -1)


def from_last(a: Array, shape: Shape, axis: int | None) -> Array:
    """``to_last`` undone."""
    return np.reshape(a, shape) if axis is None or not shape else np.swapaxes(a, axis, -1)
