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
from .about import about
from .indexing import Shape, _array, _is_basic, _positions


def _flat_positions(index: Any, x: Array, shape: Shape) -> Array:
    """Return the flat positions of the picked elements, counted from 0, in the ``shape`` of ``x[index]``."""
    positions = _positions(index, x.shape, x)
    return np.reshape(positions % max(x.size, 1), shape)


def _last(positions: Array, size: int) -> tuple[Array, Array]:
    """Return the number of each flat position, which is below ``size``, and the number of the last one that equals it."""
    numbers = np.arange(positions.size, dtype=np.uint64, like=positions)  # unsigned for CuPy's maximum.at
    latest = np.zeros_like(numbers, shape=(size,))
    np.maximum.at(latest, positions.reshape(-1), numbers)
    return numbers.reshape(positions.shape), latest[positions]


# --- set ------------------------------------------------------------------------------------------------------------


def _set_at(x: Array, values: Array, /, index: Any) -> Array:
    x = x[...]  # turns a NumPy scalar, which a rule may get for a 0-d array, into an array
    out = x.copy()
    out[index] = values
    shape = np.shape(values)
    if _is_basic(index) or not shape:
        return out
    # Only the last value for a position counts: a device writes in any order, and NumPy in memory order.
    positions = _flat_positions(index, x, np.shape(x[index]))
    spread = np.broadcast_to(np.reshape(values, shape[max(len(shape) - positions.ndim, 0) :]), positions.shape)
    numbers, last = _last(positions, x.size)
    if type(x) is np.ndarray:
        counts = last == numbers
        positions, spread = positions[counts], spread[counts]
    else:  # a mask would make a device wait: write the last value each time
        spread = spread.reshape(-1)[last]
    out.reshape(-1)[positions] = spread
    return out


def picked_where_last(g: Array, index: Any, values_shape: Shape) -> Array:
    """Return the cotangent at each picked position, and 0 for a value that a later one has overwritten."""
    g = g[...]
    picked = g[index]
    if not _is_basic(index):
        plain = values_of(g)
        numbers, last = _last(_flat_positions(index, plain, picked.shape), plain.size)
        picked = np.where(last == numbers, picked, 0)
    return np.reshape(picked, (1,) * (len(values_shape) - picked.ndim) + picked.shape)


set_at: Primitive = primitive(_set_at, name="set_at").vjp(
    x=lambda g, index: set_at(g, 0, index=index),
    values=lambda g, values_shape, index: picked_where_last(g, index, values_shape),
)


# --- add and multiply -----------------------------------------------------------------------------------------------


_IN_PLACE: dict[Any, Callable[[Any, Any], Any]] = {np.add: operator.iadd, np.multiply: operator.imul}


def _update_at(ufunc: Any, x: Array, values: Array, index: Any) -> Array:
    """Return a copy after ``x[index] += values`` or ``*=``, where every value for a repeated position counts."""
    x = x[...]
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


def _sorted(values: Array, x: Array, index: Any) -> tuple[Array, Array, Array, Shape]:
    """Return the flat positions in ascending order, the values in this order, the order, and the shape of ``x[index]``."""
    x = values_of(x)[...]
    shape = np.shape(x[index])
    positions = np.reshape(_flat_positions(index, x, shape), (-1,))
    order = np.argsort(positions, kind="stable")
    return positions[order], np.reshape(np.broadcast_to(_array(values, x), shape), (-1,))[order], order, shape


def _product_before(factors: Array, positions: Array) -> Array:
    """Return, for each factor, the product of those before it at the same position, in log n steps; positions are sorted."""
    one = np.ones_like(values_of(factors[:1]))
    products, step = np.concatenate([one, np.where(positions[1:] == positions[:-1], factors[:-1], True)]), 1
    while step < positions.size:
        same = positions[step:] == positions[:-step]
        if type(same) is np.ndarray and not same.any():  # a device is not asked
            break
        products = np.concatenate([products[:step], products[step:] * np.where(same, products[:-step], True)])
        step *= 2
    return products


def other_values(values: Array, x: Array, index: Any) -> Any:
    """Return, for each value, the product of the others for its position; no division, because one of them may be 0."""
    if _is_basic(index):
        return 1
    positions, factors, order, shape = _sorted(values, x, index)
    after = np.flip(_product_before(np.flip(factors, 0), np.flip(positions, 0)), 0)
    return np.reshape((_product_before(factors, positions) * after)[np.argsort(order)], shape)


def _multiply_at(x: Array, values: Array, /, index: Any) -> Array:
    if _is_basic(index) or not is_device_array(x):
        return _update_at(np.multiply, x, values, index)
    positions, factors, _, _ = _sorted(values, x, index)  # CuPy has no multiply.at
    product = (factors * _product_before(factors, positions))[_last(positions, x.size)[1]]
    out = x.copy()
    out.reshape(-1)[positions] = (x.reshape(-1)[positions] * product).astype(x.dtype)
    return out


add_at = primitive(lambda x, values, /, index: _update_at(np.add, x, values, index), name="add_at").vjp(
    x=lambda g: g, values=lambda g, index: g[index]
)
multiply_at: Primitive = primitive(_multiply_at, name="multiply_at").vjp(
    x=lambda g, values, index: multiply_at(g, values, index=index),
    values=lambda g, x, values, index: (g * x)[index] * other_values(values, x, index),
)
about(set_at, add_at, formulas={"values": "g, at the index"})
about(multiply_at, formulas={"values": "g * x * prod(others), at the index"})


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
