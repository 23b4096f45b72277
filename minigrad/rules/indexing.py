"""Indexing, and its transpose, which adds a cotangent at the positions of the picked elements."""

import math
import operator
from typing import Any

import numpy as np

from ..device import is_device_array, zeros
from ..engine.methods import values_of
from ..engine.observers import Replaceable
from ..engine.primitive import Primitive, primitive
from ..engine.signatures import new_array
from ..engine.types import Array
from ..errors import ArgumentError, UnsupportedError
from .about import about, reads

Shape = tuple[int, ...]
_BASIC = (slice, int, np.integer)


def _is_basic(index: Any) -> bool:
    """Return whether the index has only integers, slices, None and Ellipsis, so that it gives a view without repetition."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or (isinstance(part, _BASIC) and type(part) is not bool) for part in parts
    )


def _takes_all(index: Any) -> bool:
    """Return whether an index that picks as many elements as there are keeps their order: ``x[None]``, ``x[:, 0]``."""
    parts = index if isinstance(index, tuple) else (index,)
    return _is_basic(index) and all(not isinstance(part, slice) or part.step in (None, 1) for part in parts)


def placed(updates: Array, /, index: Any, shape: Shape) -> Array:
    """Return zeros of ``shape`` with ``updates`` added at ``index``; a repeated position gets every contribution."""
    if updates.dtype.kind == "c" and is_device_array(updates):  # CuPy's add.at takes no complex numbers
        return placed(updates.real, index, shape) + 1j * placed(updates.imag, index, shape)
    index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if updates.size == math.prod(shape) and _takes_all(index):  # the transpose of a reshape
        return updates.reshape(shape).copy()
    out, kind = zeros(shape, updates), getattr(index, "dtype", np.dtype(object)).kind
    if kind == "b" or _is_basic(index):  # no element is picked twice
        out[index] = updates
    elif kind in "iu":
        add_rows(out, index, updates)
    else:
        _add(out, index, updates)
    return out


def _add(out: Array, index: Any, updates: Array) -> None:
    """Add into ``out`` at one flat index: CuPy's add.at takes no other, and NumPy's is several times faster with it."""
    positions = _positions(index, out.shape, out)
    np.add.at(out.reshape(-1), positions.reshape(-1), updates.reshape(-1))


add_rows = Replaceable(_add)


def _positions(index: Any, shape: Shape, like: Array) -> Array:
    """Return the flat positions of the elements that ``index`` picks from an array of ``shape``."""
    *whole, last = index if isinstance(index, tuple) else (index,)
    size, integers = math.prod(shape), [getattr(part, "dtype", np.dtype(bool)).kind in "iu" for part in (*whole, last)]
    if integers[-1] and all(isinstance(part, slice) and part == slice(None) for part in whole):  # take, or an embedding
        n, width = shape[len(whole)], math.prod(shape[len(whole) + 1 :])
        flat: Any = last.astype(np.intp, copy=False)
        if whole:
            rows = np.arange(math.prod(shape[: len(whole)]), like=like).reshape(-1, 1) * n
            flat = rows + flat.reshape(-1) % max(n, 1)
        return flat if width == 1 else flat.reshape(-1, 1) * width + np.arange(width, like=like)
    if not size or integers != [True] * len(shape):
        return np.arange(size, like=like).reshape(shape)[index]
    return np.ravel_multi_index(tuple([part.astype(np.intp, copy=False) for part in (*whole, last)]), shape, "wrap")


def _scatter_along(g: Array, shape: Shape, index: Any, axis: int | None) -> Array:
    """Add at an index of ``shape``, or for ``axis=None`` of the flattened array."""
    whole = scatter_add(g, index=index, shape=(math.prod(shape),) if axis is None else shape)
    return np.reshape(whole, shape) if axis is None else whole


@new_array
def _take_rule(g: Array, a_shape: Shape, indices: Any, axis: int | None) -> Array:
    axis = axis if a_shape else None  # NumPy takes axis=0 of a 0-d array
    whole = () if axis is None else (slice(None),) * (axis % len(a_shape))
    return _scatter_along(g, a_shape, (*whole, indices), axis)


def _take_call(
    a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    indices = values_of(indices)
    if not isinstance(indices, (int, np.integer)):  # one integer stays a basic index, which needs no add.at
        indices = _array(indices, a)
    if mode != "raise":
        n = math.prod(np.shape(a)) if axis is None or not np.shape(a) else np.shape(a)[axis]
        indices = _brought_inside(indices, n, mode, "take")
    return (a, indices), {"axis": axis} if out is None else {"axis": axis, "out": out}


def _brought_inside(indices: Any, n: int, mode: str, name: str) -> Array:
    """Map any indices into [0, n) as NumPy's modes "wrap" and "clip" do."""
    if mode not in ("wrap", "clip"):
        raise ArgumentError(f"{name} takes mode='raise', 'wrap' or 'clip', got {mode!r}")
    if not n:
        return indices
    return np.mod(indices, n) if mode == "wrap" else np.clip(indices, 0, n - 1)


def _array(value: Any, like: Array) -> Array:
    """Return an array or Tensor unchanged, and a number or list as an array of the library of ``like``."""
    if hasattr(value, "dtype"):
        return value
    array = values_of(like)
    return np.asarray(value, like=array) if hasattr(array, "dtype") else np.asarray(value)


def _along_axis(arr_shape: Shape, indices: Any, axis: int) -> tuple[Any, ...]:
    """Return the full index that ``take_along_axis`` stands for, with an arange along every other axis."""
    grid: list[Any] = []
    for i, n in enumerate(arr_shape):
        shape = [1] * len(arr_shape)
        shape[i] = -1
        grid.append(indices if i == axis % len(arr_shape) else np.arange(n, like=indices).reshape(shape))
    return tuple(grid)


@new_array
def _take_along_axis_rule(g: Array, arr_shape: Shape, indices: Any, axis: int | None) -> Array:
    return _scatter_along(g, arr_shape, indices if axis is None else _along_axis(arr_shape, indices, axis), axis)


def _where_call(condition: Any, *branches: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if len(branches) != 2:
        raise UnsupportedError("np.where(condition) of a Tensor needs x and y; for indices use np.nonzero(condition)")
    return (condition, *branches), {}


def _clip_call(
    a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Accept both names of the bounds, ``a_min, a_max`` and ``min, max``."""
    return (a, a_min if min is None else min, a_max if max is None else max), {}


def _within(a: Array, a_min: Any, a_max: Any) -> Array:
    """Return where clipping leaves ``a`` unchanged; a value on a bound counts as inside."""
    above = True if a_min is None else a >= a_min
    return above & (True if a_max is None else a <= a_max)


scatter_add: Primitive = primitive(placed, name="scatter_add").vjp(updates=lambda g, index: g[index])
about(scatter_add, linear=True, formulas={"updates": "g, at the index"})
getitem = primitive(operator.getitem, lambda x, /, index: x[index]).vjp(
    x=new_array(lambda g, x_shape, index: scatter_add(g, index=index, shape=x_shape))
)
about(getitem, word="part", linear=True, formulas={"x": "g, at the selected elements, 0 elsewhere"})
take = primitive(np.take, lambda a, indices, /, axis=None: np.take(a, indices, axis=axis), bind=_take_call).vjp(
    a=_take_rule
)
take_along_axis = primitive(
    np.take_along_axis, lambda arr, indices, /, axis=-1: np.take_along_axis(arr, indices, axis=axis)
).vjp(arr=_take_along_axis_rule)


def places(shape: Shape) -> Array:
    """Return the number of each element. After an operation that moves elements, it shows where each one came from."""
    return np.arange(math.prod(shape)).reshape(shape)


def added_at(g: Array, numbers: Array, shape: Shape) -> Array:
    """Return zeros of ``shape`` with each element of ``g`` added at the element with its number in ``numbers``."""
    summed = np.bincount(np.ravel(numbers), np.ravel(g), math.prod(shape))
    return summed[: math.prod(shape)].reshape(shape)


about(
    take,
    product=True,
    formulas={"a": "g, added at the selected elements, 0 elsewhere"},
    written={"a": lambda g, a_shape, indices, axis: added_at(g, np.take(places(a_shape), indices, axis=axis), a_shape)},
)
about(
    take_along_axis,
    product=True,
    formulas={"arr": "g, added at the selected elements, 0 elsewhere"},
    written={
        "arr": lambda g, arr_shape, indices, axis: added_at(
            g, np.take_along_axis(places(arr_shape), indices, axis=axis), arr_shape
        )
    },
)


@reads("where(condition, g, 0)")
@Replaceable
def masked(g: Array, condition: Array) -> Array:
    """Return ``g`` where ``condition`` is true, and 0 elsewhere, also in place of inf and NaN."""
    return np.where(condition, g, 0)


where = primitive(np.where, lambda condition, x, y, /: np.where(condition, x, y), bind=_where_call).vjp(
    x=new_array(lambda g, condition: masked(g, condition)),
    y=new_array(lambda g, condition: np.where(condition, 0, g)),
)
about(where, elementwise=True)
clip = primitive(np.clip, lambda a, a_min=None, a_max=None, /: np.clip(a, a_min, a_max), bind=_clip_call).vjp(
    a=lambda g, a, a_min, a_max: g * _within(a, a_min, a_max),
    a_min=lambda g, a, a_min, a_max: g * (a < a_min) * (True if a_max is None else a_min <= a_max),
    a_max=lambda g, a, a_min, a_max: g * ((a if a_min is None else np.maximum(a, a_min)) > a_max),
)


def _inside(a_min: Any, a_max: Any) -> str:
    """Return the formula for the bounds that are given."""
    return f"where({'' if a_min is None else 'a_min <= '}a{'' if a_max is None else ' <= a_max'}, g, 0)"


about(
    clip,
    elementwise=True,
    formulas={
        "a": "where(a_min <= a <= a_max, g, 0)",
        "a_min": "where(a < a_min, g, 0)",
        "a_max": "where(a > a_max, g, 0)",
    },
    for_shapes={"a": _inside},
)
