"""Picking elements, and its transpose: adding a cotangent back where the elements were picked."""

import math
import operator
from typing import Any

import numpy as np

from .._primitive import Primitive, primitive

Shape = tuple[int, ...]


def _is_basic(index: Any) -> bool:
    """Whether the index picks no element twice and gives a view: integers, slices, None and Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is Ellipsis or isinstance(part, (slice, int, np.integer)) for part in parts)


def _scatter_add(updates: Any, /, index: Any, shape: Shape) -> Any:
    """Zeros of ``shape``, with ``updates`` added at ``index``; an element named twice gets both contributions."""
    out = np.zeros_like(updates, order="C", shape=shape)
    if _is_basic(index):
        out[index] = updates
    else:  # one flat index: all that CuPy's add.at takes, and several times faster in NumPy's
        np.add.at(out.reshape(-1), _positions(index, shape, updates).reshape(-1), updates.reshape(-1))
    return out


def _positions(index: Any, shape: Shape, like: Any) -> Any:
    """The places, in an array of ``shape`` laid out flat, of the elements that ``index`` picks."""
    rows = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if (
        getattr(rows, "dtype", np.dtype(bool)).kind in "iu"
    ):  # whole rows, as for an embedding: no need to number them all
        width = math.prod(shape[1:])
        return rows.reshape(-1, 1).astype(np.intp) * width + np.arange(width, like=like)
    return np.arange(math.prod(shape), like=like).reshape(shape)[index]


def _take_rule(g: Any, a_shape: Shape, indices: Any, axis: int | None) -> Any:
    if axis is None:
        return np.reshape(scatter_add(g, index=indices, shape=(int(np.prod(a_shape)),)), a_shape)
    return scatter_add(g, index=(slice(None),) * (axis % len(a_shape)) + (indices,), shape=a_shape)


def _along_axis(a_ndim: int, indices: Any, axis: int) -> tuple[Any, ...]:
    """The full index that ``take_along_axis`` stands for: every other axis counts through."""
    grid: list[Any] = []
    for i in range(a_ndim):
        shape = [1] * a_ndim
        shape[i] = -1
        grid.append(indices if i == axis % a_ndim else np.arange(indices.shape[i], like=indices).reshape(shape))
    return tuple(grid)


def _clip_call(
    a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """NumPy calls the bounds ``a_min, a_max`` or ``min, max``."""
    return (a, a_min if min is None else min, a_max if max is None else max), {}


def _within(a: Any, a_min: Any, a_max: Any) -> Any:
    """Where clipping leaves ``a`` as it is; a value on a bound counts as inside."""
    above = True if a_min is None else a >= a_min
    return above & (True if a_max is None else a <= a_max)


scatter_add: Primitive = primitive(_scatter_add, name="scatter_add").vjp(updates=lambda g, index: g[index])
getitem = primitive(operator.getitem, lambda x, /, index: x[index]).vjp(
    x=lambda g, x_shape, index: scatter_add(g, index=index, shape=x_shape)
)
take = primitive(np.take, lambda a, indices, /, axis=None: np.take(a, indices, axis=axis)).vjp(a=_take_rule)
take_along_axis = primitive(
    np.take_along_axis, lambda arr, indices, /, axis=-1: np.take_along_axis(arr, indices, axis=axis)
).vjp(
    arr=lambda g, arr_shape, indices, axis: scatter_add(
        g, index=_along_axis(len(arr_shape), indices, axis), shape=arr_shape
    )
)
where = primitive(np.where, lambda condition, x, y, /: np.where(condition, x, y)).vjp(
    x=lambda g, condition: np.where(condition, g, 0), y=lambda g, condition: np.where(condition, 0, g)
)
clip = primitive(np.clip, lambda a, a_min=None, a_max=None, /: np.clip(a, a_min, a_max), bind=_clip_call).vjp(
    a=lambda g, a, a_min, a_max: g * _within(a, a_min, a_max),
    a_min=lambda g, a, a_min, a_max: g * (a < a_min) * (True if a_max is None else a_min <= a_max),
    a_max=lambda g, a, a_min, a_max: g * ((a if a_min is None else np.maximum(a, a_min)) > a_max),
)
