"""Functions that choose among arrays or drop elements, composed of ``where``, ``take`` and ``concatenate``."""

import functools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..device import check_range, is_device_array, to_host
from ..engine.functions import composite
from ..engine.methods import values_of
from ..engine.types import Array
from ..errors import ArgumentError, DTypeError, OutOfRangeError
from .axes import array_of
from .indexing import _array, _brought_inside, scatter_add


def _common_dtype(values: Sequence[Any]) -> Any:
    """Return the dtype of NumPy's promotion, in which a Python number is weak."""
    return np.result_type(*[v if type(v) in (int, float, complex) else _values(v).dtype for v in values])


def _values(value: Any) -> Array:
    """Return an argument without a derivative, such as a condition or an index, as a plain array."""
    return array_of(values_of(value))


def _cast(a: Array, dtype: Any) -> Array:
    return a if a.dtype == dtype else a.astype(dtype)


def _choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    index, choices = _array(values_of(a), a), list(choices)
    n = len(choices)
    if index.dtype.kind not in "biu":
        raise DTypeError(f"choose needs integers that say which choice to take, got {index.dtype}")
    if mode != "raise":
        index = _brought_inside(index, n, mode, "choose")
    else:
        words = f"choose has {n} choices, numbered 0 to {n - 1}, and got"
        check_range(index, n, lambda _: OutOfRangeError(f"{words} {index.min()} to {index.max()}"))
    result = np.broadcast_to(_array(choices[-1], a), np.broadcast_shapes(np.shape(index), *map(np.shape, choices)))
    for i, choice in enumerate(choices[:-1]):
        result = np.where(index == i, choice, result)
    return _cast(result, _common_dtype(choices))


def _select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    if len(condlist) != len(choicelist) or not condlist:
        raise ArgumentError(
            f"select needs as many conditions as choices and at least one, got {len(condlist)} and {len(choicelist)}"
        )
    conditions = [_values(condition) for condition in condlist]
    for condition in conditions:
        if condition.dtype != bool:
            raise DTypeError(f"select needs conditions that are booleans, got {condition.dtype}")
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choicelist)):
        result = np.where(condition, choice, result)
    return _cast(result, _common_dtype([*choicelist, default]))


def _piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Call each function with only the elements where its condition holds."""
    one = (bool, np.bool)
    single = isinstance(condlist, one) or (x.ndim and (isinstance(condlist[0], one) or np.ndim(condlist[0]) == 0))
    conditions = [_values(c).astype(bool) for c in ([condlist] if single else condlist)]
    for condition in conditions:
        if condition.shape != x.shape:
            raise ArgumentError(f"piecewise needs conditions of the shape of x, {x.shape}, got {condition.shape}")
    if len(funclist) == len(conditions) + 1:
        conditions.append(~functools.reduce(operator.or_, conditions))
    if len(funclist) != len(conditions):
        raise ArgumentError(f"piecewise got {len(funclist)} functions for {len(conditions)} conditions")
    result = np.zeros_like(x)
    for condition, value in zip(conditions, funclist):
        if callable(value):
            picked = x[condition]
            if not picked.size:
                continue
            value = _array(value(picked, *args, **kw), x)
            value = scatter_add(np.broadcast_to(value, picked.shape), index=condition, shape=x.shape)
        result = np.where(condition, value, result)
    return _cast(result, x.dtype)


def _compress(condition: Any, a: Any, axis: int | None = None) -> Any:
    condition = _values(condition)
    if condition.ndim != 1:
        raise ArgumentError(f"compress needs a condition of 1 axis, got shape {condition.shape}")
    return _taken(a, np.flatnonzero(condition), axis)


def _taken(a: Array, indices: Any, axis: int | None) -> Any:
    """Take the elements at plain indices, which may be on the host while ``a`` is on a device."""
    array = values_of(a)
    there = np.asarray(indices, like=array) if isinstance(indices, np.ndarray) and hasattr(array, "dtype") else indices
    return np.take(a, there, axis)


def _delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    n = arr.size if axis is None else arr.shape[axis]
    return _taken(arr, np.delete(np.arange(n), to_host(values_of(obj))), axis)


def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Append the broadcast values to ``arr``, then take all elements in the order that ``np.insert`` gives their indices."""
    arr, axis = (np.ravel(arr), 0) if axis is None else (arr, range(arr.ndim)[axis])
    n, shape = arr.shape[axis], list(arr.shape)
    obj, values = values_of(obj), _array(values, arr)
    there = is_device_array(obj) and obj.dtype != bool  # the size of such an index is the number of insertions
    obj = obj if there else to_host(obj)
    shape[axis] = obj.size if there else np.insert(np.arange(n), obj, 0).size - n
    if shape[axis] == 1:  # one insertion takes any number of values
        values = np.reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
        values = np.moveaxis(values, 0, axis) if np.ndim(obj) == 0 and not isinstance(obj, slice) else values
        shape[axis] = values.shape[axis]
    whole = np.concatenate([arr, _cast(np.broadcast_to(values, shape), arr.dtype)], axis)
    return _taken(whole, _order_after_insertion(obj, n, shape[axis]), axis)


def _order_after_insertion(obj: Any, n: int, count: int) -> Any:
    """Return the indices of the elements in their new order; the n old ones come first, then the ``count`` new ones."""
    if not is_device_array(obj):
        return np.insert(np.arange(n), obj, np.arange(n, n + count))
    obj = obj.astype(np.int64)
    positions = np.where(obj < 0, obj + n, obj)
    words = f"insert needs positions in {-n} ... {n}, got"
    check_range(positions, n + 1, lambda worst: OutOfRangeError(f"{words} {worst - n if worst < 0 else worst}"))
    new = np.broadcast_to(np.reshape(positions, (-1,)), (count,))  # a stable sort puts them before the old elements
    return (np.argsort(np.concatenate([new, np.arange(n, like=obj)]), kind="stable") + n) % (n + count)


def _append(arr: Any, values: Any, axis: int | None = None) -> Any:
    arr, values = _array(arr, values), _array(values, arr)
    return np.concatenate([np.ravel(arr), np.ravel(values)] if axis is None else [arr, values], axis or 0)


choose = composite(np.choose, _choose)
select = composite(np.select, _select)
piecewise = composite(np.piecewise, _piecewise)
compress = composite(np.compress, _compress)
extract = composite(np.extract, lambda condition, arr: _taken(np.ravel(arr), np.flatnonzero(_values(condition)), 0))
delete = composite(np.delete, _delete)
insert = composite(np.insert, _insert)
append = composite(np.append, _append)
