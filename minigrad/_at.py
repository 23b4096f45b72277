"""``t.at[index].set(v)``: NumPy's assignment as a function of array and values, made of ``where`` and ``scatter_add``."""

import operator
from typing import Any

import numpy as np

from .engine.arrays import SCALARS
from .engine.protocols import plain_index
from .engine.registry import registry
from .engine.tensor import Tensor
from .engine.types import Array
from .errors import DTypeError
from .rules.indexing import Shape, _array, _is_basic, _positions, scatter_add


def _spread(values: Any, x: Any, index: Any) -> Any:
    """``values`` broadcast to what ``index`` picks of ``x``, in its dtype; a float among integers would be cut off."""
    given: Any = values if isinstance(values, Tensor) else Tensor(_array(values, x), copy=False)
    weak = values if type(values) in SCALARS else given.dtype
    if not np.can_cast(np.result_type(x.dtype, weak), x.dtype, "same_kind"):
        raise DTypeError(
            f"t.at[index] of a tensor of dtype {x.dtype} cannot take values of dtype {given.dtype}: "
            f"t.astype({given.dtype.name!r}) first"
        )
    spread: Any = np.broadcast_to(given, x.detach()[index].shape)
    return spread if spread.dtype == x.dtype else spread.astype(x.dtype)


def _places(index: Any, x: Array, shape: Shape) -> Array:
    """As ``_positions``, in the shape of what is picked and counted from 0."""
    return np.reshape(_positions(index, x.shape, x) % max(x.size, 1), shape)


def _is_last(places: Array, size: int) -> Array:
    """Where a place out of ``size`` is named for the last time."""
    order = np.arange(1, places.size + 1, dtype=np.uint64, like=places)  # CuPy finds maxima of unsigned numbers
    latest = np.zeros_like(order, shape=size)
    np.maximum.at(latest, places.reshape(-1), order)
    return latest[places] == order.reshape(places.shape)


def _set_at(x: Any, values: Any, index: Any) -> Any:
    index = plain_index(index)
    spread = _spread(values, x, index)
    if not _is_basic(index):  # of values for the same place the last one counts, on any device
        last = _is_last(_places(index, x._array, spread.shape), x.size)
        spread = np.where(last, spread, np.zeros_like(spread))
    changed = np.zeros_like(x._array, dtype=bool)
    changed[index] = True
    return np.where(changed, scatter_add(spread, index=index, shape=x.shape), x)


def _add_at(x: Any, values: Any, index: Any) -> Any:
    index = plain_index(index)
    return x + scatter_add(_spread(values, x, index), index=index, shape=x.shape)


def _multiply_at(x: Any, values: Any, index: Any) -> Any:
    """Of an element named several times the product of all its values: they stand in one row, behind which are ones."""
    index = plain_index(index)
    spread = _spread(values, x, index)
    if _is_basic(index):
        return _set_at(x, x[index] * spread, index)
    places = np.reshape(_places(index, x._array, spread.shape), (-1,))
    rows, row, counts = np.unique(places, return_inverse=True, return_counts=True)
    order, starts = np.argsort(row, kind="stable"), np.cumsum(counts) - counts
    column = np.empty_like(row)
    column[order] = np.arange(row.size, like=row) - starts[row[order]]
    ones = Tensor(np.ones_like(x._array, shape=(rows.size, int(counts.max()) if row.size else 0)))
    factors = np.prod(_set_at(ones, np.reshape(spread, (-1,)), (row, column)), axis=-1, dtype=x.dtype)
    flat = np.reshape(x, (-1,))
    return np.reshape(_set_at(flat, flat[rows] * factors, rows), x.shape)


registry[operator.setitem, "set"] = _set_at
registry[operator.setitem, "add"] = _add_at
registry[operator.setitem, "multiply"] = _multiply_at
