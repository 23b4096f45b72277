"""Reductions: ``sum``, ``mean`` and their kin, over any axes, with or without ``keepdims``."""

from typing import Any

import numpy as np

from .._primitive import primitive
from ..tensor import Axis

Shape = tuple[int, ...]


def _expand(g: Any, axis: Axis, keepdims: bool) -> Any:
    """Give a reduced array its reduced axes back, with length 1, so that it broadcasts against the input."""
    return g if keepdims or axis is None else np.expand_dims(g, axis)


def _count(shape: Shape, axis: Axis) -> int:
    """How many elements go into each result."""
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    count = 1
    for i in axes:
        count *= shape[i]
    return count


def _shared(a: Any, extreme: Any, axis: Axis) -> Any:
    """1 where ``a`` is the extreme of its slice, divided by how many are (ties share the gradient)."""
    hit = a == extreme
    return hit / np.sum(hit, axis=axis, keepdims=True)


def _sum(a: Any, /, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims)


def _mean(a: Any, /, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims)


def _var(a: Any, /, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> Any:
    return np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)


def _std(a: Any, /, axis: Axis = None, ddof: float = 0, keepdims: bool = False) -> Any:
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)


def _max(a: Any, /, axis: Axis = None, keepdims: bool = False) -> Any:
    return np.max(a, axis=axis, keepdims=keepdims)


def _min(a: Any, /, axis: Axis = None, keepdims: bool = False) -> Any:
    return np.min(a, axis=axis, keepdims=keepdims)


def _var_rule(g: Any, a: Any, a_shape: Shape, axis: Axis, ddof: float, keepdims: bool) -> Any:
    centred = a - np.mean(a, axis=axis, keepdims=True)
    return _expand(g, axis, keepdims) * np.conjugate(centred) * 2 / (_count(a_shape, axis) - ddof)


def _std_rule(g: Any, ans: Any, a: Any, a_shape: Shape, axis: Axis, ddof: float, keepdims: bool) -> Any:
    """d std = d var / (2 std); 0 where the standard deviation is 0, as for abs at 0."""
    safe = np.where(ans == 0, 1.0, ans)
    return _var_rule(np.where(ans == 0, 0.0, 0.5 * g / safe), a, a_shape, axis, ddof, keepdims)


def _extreme_rule(g: Any, ans: Any, a: Any, axis: Axis, keepdims: bool) -> Any:
    return _expand(g, axis, keepdims) * _shared(a, _expand(ans, axis, keepdims), axis)


sum = primitive(_sum, name="sum", numpy=[np.sum]).vjp(
    a=lambda g, a_shape, axis, keepdims: np.broadcast_to(_expand(g, axis, keepdims), a_shape)
)
mean = primitive(_mean, name="mean", numpy=[np.mean]).vjp(
    a=lambda g, a_shape, axis, keepdims: np.broadcast_to(_expand(g, axis, keepdims) / _count(a_shape, axis), a_shape)
)
var = primitive(_var, name="var", numpy=[np.var]).vjp(a=_var_rule)
std = primitive(_std, name="std", numpy=[np.std]).vjp(a=_std_rule)
max = primitive(_max, name="max", numpy=[np.max, np.amax]).vjp(a=_extreme_rule)
min = primitive(_min, name="min", numpy=[np.min, np.amin]).vjp(a=_extreme_rule)
