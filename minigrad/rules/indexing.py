"""Picking elements, and its transpose: adding a cotangent back where the elements were picked."""

import math
import operator
from typing import Any

import numpy as np

from ..device import is_device_array, zeros
from ..engine.primitive import Primitive, primitive
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..errors import ArgumentError, UnsupportedError

Shape = tuple[int, ...]
_BASIC = (slice, int, np.integer)


def _is_basic(index: Any) -> bool:
    """Whether the index picks no element twice and gives a view: integers, slices, None and Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or (isinstance(part, _BASIC) and type(part) is not bool) for part in parts
    )


def _scatter_add(updates: Array, /, index: Any, shape: Shape) -> Array:
    """Zeros of ``shape``, with ``updates`` added at ``index``; an element named twice gets both contributions."""
    if updates.dtype.kind == "c" and is_device_array(updates):  # where complex numbers cannot be added at an index
        return _scatter_add(updates.real, index, shape) + 1j * _scatter_add(updates.imag, index, shape)
    if _is_basic(index):
        out = zeros(shape, updates)
        out[index] = updates
        return out
    out = zeros(shape, updates)
    # one flat index: all that CuPy's add.at takes, and several times faster in NumPy's
    np.add.at(out.reshape(-1), _positions(index, shape, out).reshape(-1), updates.reshape(-1))
    return out


def _positions(index: Any, shape: Shape, like: Array) -> Array:
    """The places, in an array of ``shape`` laid out flat, of the elements that ``index`` picks."""
    rows = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if (
        getattr(rows, "dtype", np.dtype(bool)).kind in "iu"
    ):  # whole rows, as for an embedding: no need to number them all
        width = math.prod(shape[1:])
        return rows.reshape(-1, 1).astype(np.intp) * width + np.arange(width, like=like)
    return np.arange(math.prod(shape), like=like).reshape(shape)[index]


def _take_rule(g: Array, a_shape: Shape, indices: Any, axis: int | None) -> Array:
    if axis is None:
        return np.reshape(scatter_add(g, index=indices, shape=(int(np.prod(a_shape)),)), a_shape)
    return scatter_add(g, index=(slice(None),) * (axis % len(a_shape)) + (indices,), shape=a_shape)


def _take_call(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    indices = _plain(indices)
    if not isinstance(indices, (int, np.integer)):  # one number stays a basic index, which needs no add.at
        indices = _array(indices, a)
    if mode != "raise":
        indices = _brought_inside(indices, math.prod(np.shape(a)) if axis is None else np.shape(a)[axis], mode, "take")
    return (a, indices), {"axis": axis} if out is None else {"axis": axis, "out": out}


def _brought_inside(indices: Any, n: int, mode: str, name: str) -> Array:
    """The indices in [0, n) that NumPy's modes "wrap" and "clip" make of any."""
    if mode not in ("wrap", "clip"):
        raise ArgumentError(f"{name} takes mode='raise', 'wrap' or 'clip', got {mode!r}")
    if not n:
        return indices
    return np.mod(indices, n) if mode == "wrap" else np.clip(indices, 0, n - 1)


def _plain(value: Any) -> Any:
    """Indices or conditions, which have no derivative: the plain array of a Tensor, anything else as it is."""
    return value._array if isinstance(value, Tensor) else value


def _array(value: Any, like: Array) -> Array:
    """An array or Tensor as it is; a number or a list as an array in the library of ``like``."""
    if hasattr(value, "dtype"):
        return value
    array = like._array if isinstance(like, Tensor) else like
    return np.asarray(value, like=array) if hasattr(array, "dtype") else np.asarray(value)


def _along_axis(arr_shape: Shape, indices: Any, axis: int) -> tuple[Any, ...]:
    """The full index that ``take_along_axis`` stands for: every other axis counts through."""
    grid: list[Any] = []
    for i, n in enumerate(arr_shape):
        shape = [1] * len(arr_shape)
        shape[i] = -1
        grid.append(indices if i == axis % len(arr_shape) else np.arange(n, like=indices).reshape(shape))
    return tuple(grid)


def _take_along_axis_rule(g: Array, arr_shape: Shape, indices: Any, axis: int | None) -> Array:
    if axis is None:
        return np.reshape(scatter_add(g, index=indices, shape=(math.prod(arr_shape),)), arr_shape)
    return scatter_add(g, index=_along_axis(arr_shape, indices, axis), shape=arr_shape)


def _where_call(condition: Any, *branches: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if len(branches) != 2:
        raise UnsupportedError("np.where(condition) of a Tensor needs x and y; for indices use np.nonzero(condition)")
    return (condition, *branches), {}


def _clip_call(
    a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """NumPy calls the bounds ``a_min, a_max`` or ``min, max``."""
    return (a, a_min if min is None else min, a_max if max is None else max), {}


def _within(a: Array, a_min: Any, a_max: Any) -> Array:
    """Where clipping leaves ``a`` as it is; a value on a bound counts as inside."""
    above = True if a_min is None else a >= a_min
    return above & (True if a_max is None else a <= a_max)


scatter_add: Primitive = primitive(_scatter_add, name="scatter_add").vjp(updates=lambda g, index: g[index])
getitem = primitive(operator.getitem, lambda x, /, index: x[index]).vjp(
    x=lambda g, x_shape, index: scatter_add(g, index=index, shape=x_shape)
)
take = primitive(np.take, lambda a, indices, /, axis=None: np.take(a, indices, axis=axis), bind=_take_call).vjp(
    a=_take_rule
)
take_along_axis = primitive(
    np.take_along_axis, lambda arr, indices, /, axis=-1: np.take_along_axis(arr, indices, axis=axis)
).vjp(arr=_take_along_axis_rule)
where = primitive(np.where, lambda condition, x, y, /: np.where(condition, x, y), bind=_where_call).vjp(
    x=lambda g, condition: np.where(condition, g, 0), y=lambda g, condition: np.where(condition, 0, g)
)
clip = primitive(np.clip, lambda a, a_min=None, a_max=None, /: np.clip(a, a_min, a_max), bind=_clip_call).vjp(
    a=lambda g, a, a_min, a_max: g * _within(a, a_min, a_max),
    a_min=lambda g, a, a_min, a_max: g * (a < a_min) * (True if a_max is None else a_min <= a_max),
    a_max=lambda g, a, a_min, a_max: g * ((a if a_min is None else np.maximum(a, a_min)) > a_max),
)
