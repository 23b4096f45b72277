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


def _var_rule(g: Any, a: Any, a_shape: Shape, axis: Axis, ddof: float, keepdims: bool) -> Any:
    centred = a - np.mean(a, axis=axis, keepdims=True)
    return _expand(g, axis, keepdims) * np.conjugate(centred) * 2 / (_count(a_shape, axis) - ddof)


def _std_rule(g: Any, ans: Any, a: Any, a_shape: Shape, axis: Axis, ddof: float, keepdims: bool) -> Any:
    """d std = d var / (2 std); 0 where the standard deviation is 0, as for abs at 0."""
    safe = np.where(ans == 0, 1.0, ans)
    return _var_rule(np.where(ans == 0, 0.0, 0.5 * g / safe), a, a_shape, axis, ddof, keepdims)


def _extreme_rule(g: Any, ans: Any, a: Any, axis: Axis, keepdims: bool) -> Any:
    return _expand(g, axis, keepdims) * _shared(a, _expand(ans, axis, keepdims), axis)


sum = primitive(
    np.sum,
    lambda a, /, axis=None, dtype=None, keepdims=False: np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims),
).vjp(a=lambda g, a_shape, axis, keepdims: np.broadcast_to(_expand(g, axis, keepdims), a_shape))
mean = primitive(
    np.mean,
    lambda a, /, axis=None, dtype=None, keepdims=False: np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims),
).vjp(a=lambda g, a_shape, axis, keepdims: np.broadcast_to(_expand(g, axis, keepdims) / _count(a_shape, axis), a_shape))
var = primitive(
    np.var, lambda a, /, axis=None, ddof=0, keepdims=False: np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)
).vjp(a=_var_rule)
std = primitive(
    np.std, lambda a, /, axis=None, ddof=0, keepdims=False: np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
).vjp(a=_std_rule)
max = primitive(
    np.max, lambda a, /, axis=None, keepdims=False: np.max(a, axis=axis, keepdims=keepdims), also=[np.amax]
).vjp(a=_extreme_rule)
min = primitive(
    np.min, lambda a, /, axis=None, keepdims=False: np.min(a, axis=axis, keepdims=keepdims), also=[np.amin]
).vjp(a=_extreme_rule)
