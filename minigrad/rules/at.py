"""``t.at[index].set(v)``, ``.add(v)`` and ``.multiply(v)``, which return a changed copy and are differentiable.

The forward assigns into a copy with NumPy: ``set`` gives the values that ``a[index] = v`` gives, and raises the same errors.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import is_device_array
from ..engine.arrays import SCALARS, operand
from ..engine.methods import values_of
from ..engine.primitive import Primitive, primitive
from ..engine.protocols import plain_index
from ..engine.registry import registry
from ..engine.tensor import Tensor
from ..engine.types import Array
from ..errors import DTypeError
from .indexing import Shape, _array, _is_basic, _positions


def _flat_positions(index: Any, x: Array, shape: Shape) -> Array:
    """Return the flat positions of the picked elements, counted from 0, in the ``shape`` of ``x[index]``."""
    return np.reshape(_positions(index, x.shape, x) % max(x.size, 1), shape)


def _is_last(positions: Array, size: int) -> Array:
    """Return True where a flat position, below ``size``, occurs for the last time."""
    order = np.arange(1, positions.size + 1, dtype=np.uint64, like=positions)  # unsigned for CuPy's maximum.at
    latest = np.zeros_like(order, shape=size)
    np.maximum.at(latest, positions.reshape(-1), order)
    return latest[positions] == order.reshape(positions.shape)


# --- set ------------------------------------------------------------------------------------------------------------


def _set_at(x: Array, values: Array, /, index: Any) -> Array:
    out = x.copy()
    out[index] = values
    shape = np.shape(values)
    if _is_basic(index) or not shape:
        return out
    # Write only the last value for each position: a device writes in any order, and NumPy in memory order.
    positions = _flat_positions(index, x, np.shape(x[index]))
    last = _is_last(positions, x.size)
    spread = np.broadcast_to(np.reshape(values, shape[max(len(shape) - positions.ndim, 0) :]), positions.shape)
    out.reshape(-1)[positions[last]] = spread[last]
    return out


def picked_where_last(g: Array, index: Any, values_shape: Shape) -> Array:
    """Return the cotangent at each picked position, and 0 for a value that a later one has overwritten."""
    picked = g[index]
    if not _is_basic(index):
        plain = values_of(g)
        picked = np.where(_is_last(_flat_positions(index, plain, picked.shape), plain.size), picked, 0)
    return np.reshape(picked, (1,) * (len(values_shape) - picked.ndim) + picked.shape)


set_at: Primitive = primitive(_set_at, name="set_at").vjp(
    x=lambda g, index: set_at(g, 0, index=index),
    values=lambda g, values_shape, index: picked_where_last(g, index, values_shape),
)


# --- add and multiply -----------------------------------------------------------------------------------------------


_IN_PLACE: dict[Any, Callable[[Any, Any], Any]] = {np.add: operator.iadd, np.multiply: operator.imul}


def _update_at(ufunc: Any, x: Array, values: Array, index: Any) -> Array:
    """Return a copy after ``x[index] += values`` or ``*=``, where every value for a repeated position counts."""
    out = x.copy()
    if _is_basic(index):
        parts = index if isinstance(index, tuple) else (index,)
        view = out[parts if Ellipsis in parts else (*parts, Ellipsis)]
        _IN_PLACE[ufunc](view, values)
        return out
    picked = out[index][...]  # turns a NumPy scalar into an array
    weak = type(values) in SCALARS
    spread = np.full_like(picked, values) if weak else np.broadcast_to(values, picked.shape)
    _IN_PLACE[ufunc](picked, values)  # raises the operator's errors; ufunc.at would truncate silently
    positions = _flat_positions(index, x, picked.shape)
    ufunc.at(out.reshape(-1), positions.reshape(-1), spread.reshape(-1))  # CuPy's add.at takes one flat index only
    return out


def _in_rows(values: Array, x: Array, index: Any) -> tuple[Array, tuple[Array, Array], Array]:
    """Return a row of values per position, padded with ones; the (row, column) of each value; and the positions."""
    spread = np.broadcast_to(_array(values, x), np.shape(values_of(x)[index]))
    positions = np.reshape(_flat_positions(index, values_of(x), spread.shape), (-1,))
    rows, row, counts = np.unique(positions, return_inverse=True, return_counts=True)
    order, starts = np.argsort(row, kind="stable"), np.cumsum(counts) - counts
    column = np.empty_like(row)
    column[order] = np.arange(row.size, like=row) - starts[row[order]]
    ones = np.ones_like(values_of(spread), shape=(rows.size, int(counts.max()) if row.size else 0))
    return set_at(ones, np.reshape(spread, (-1,)), index=(row, column)), (row, column), rows


def other_values(values: Array, x: Array, index: Any) -> Any:
    """Return, for each value, the product of the others for its position; no division, because one of them may be 0."""
    if _is_basic(index):
        return 1
    factors, where, _ = _in_rows(values, x, index)
    one = np.ones_like(values_of(factors), shape=(factors.shape[0], 1))
    before = np.cumprod(np.concatenate([one, factors], axis=1), axis=1)[where]
    after = np.cumprod(np.concatenate([one, np.flip(factors, 1)], axis=1), axis=1)
    return np.reshape(before * np.flip(after, 1)[:, 1:][where], np.shape(values_of(x)[index]))


def _add_at(x: Array, values: Array, /, index: Any) -> Array:
    return _update_at(np.add, x, values, index)


def _multiply_at(x: Array, values: Array, /, index: Any) -> Array:
    if _is_basic(index) or not is_device_array(x):
        return _update_at(np.multiply, x, values, index)
    factors, _, rows = _in_rows(values, x, index)
    out = x.copy()
    out.reshape(-1)[rows] *= np.prod(factors, axis=-1, dtype=x.dtype)  # CuPy has no multiply.at
    return out


add_at = primitive(_add_at, name="add_at").vjp(x=lambda g: g, values=lambda g, index: g[index])
multiply_at: Primitive = primitive(_multiply_at, name="multiply_at").vjp(
    x=lambda g, values, index: multiply_at(g, values, index=index),
    values=lambda g, x, values, index: (g * x)[index] * other_values(values, x, index),
)


# --- t.at[index] ----------------------------------------------------------------------------------------------------


_KINDS = "biufc"


def _set(x: Any, values: Any, index: Any) -> Any:
    array = values if isinstance(values, Tensor) else operand(values)
    dtype = np.dtype(type(array)) if type(array) in SCALARS else array.dtype
    # An assignment would drop fractions and imaginary parts.
    if _KINDS.index(dtype.kind) > _KINDS.index(x.dtype.kind):
        raise DTypeError(_does_not_fit(x, dtype))
    if not hasattr(values, "dtype") and type(values) not in SCALARS and not is_device_array(x._array):
        array = np.asarray(values, x.dtype)  # raises, as an assignment does, if an integer in a list is out of range
    return set_at(x, array, index=plain_index(index))


def _updated(update: Primitive) -> Callable[[Any, Any, Any], Any]:
    def updated(x: Any, values: Any, index: Any) -> Any:
        weak = type(values) in SCALARS
        values = values if weak or hasattr(values, "dtype") else _array(operand(values), x)
        if not np.can_cast(np.result_type(x.dtype, values if weak else values.dtype), x.dtype, "same_kind"):
            raise DTypeError(_does_not_fit(x, np.dtype(type(values)) if weak else values.dtype))
        return update(x, values, index=plain_index(index))

    return updated


def _does_not_fit(x: Any, dtype: Any) -> str:
    return f"t.at[index] of a tensor of dtype {x.dtype} cannot take values of dtype {dtype}: use t.astype({dtype.name!r}) first"


registry[operator.setitem, "set"] = _set
registry[operator.setitem, "add"] = _updated(add_at)
registry[operator.setitem, "multiply"] = _updated(multiply_at)
