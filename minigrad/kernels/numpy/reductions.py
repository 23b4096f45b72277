"""Faster forwards of ``np.sum``, ``np.mean``, ``np.max`` and ``np.min``, and backwards of ``np.prod`` and ``np.cumprod``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.sums import MIN_PRODUCT, ones, sum_over
from ...engine.types import Array
from ...rules import reductions
from ...rules.axes import axes_of, expand

_LONG = 1 << 12  # the longest row, in elements, for argmax; in longer rows np.max is as fast
_WIDE = 1 << 8  # the most elements of a row in one product; NumPy's sum of more is more exact
_MOST = 16  # the most products for one row
_EXACT = 1 << 24  # the largest count for a mean; float32 represents all integers up to this one exactly
_FEW = 1 << 9  # elements in total; NumPy sums fewer along one axis as fast
_reduce: Callable[..., Any] = np.add.reduce


def _extreme(index_of: Callable[..., Any]) -> Callable[..., Any]:
    """Return a forward for contiguous rows with ``np.argmax`` (or ``argmin``), which is up to five times as fast."""

    def forward(a: Array, axis: Any = None, keepdims: Any = False, **others: Any) -> Any:
        row = a.shape[-1]
        if others or type(axis) is not int or type(keepdims) is not bool or axis not in (-1, a.ndim - 1):
            return NotImplemented
        if a.ndim < 2 or not 1 < row <= _LONG or not a.flags.c_contiguous:
            return NotImplemented
        where = index_of(a, -1, keepdims=keepdims)
        return a.take(where + np.arange(0, a.size, row).reshape(where.shape)), None

    return forward


def _sum(a: Array, axis: Any = None, keepdims: Any = False, **others: Any) -> Any:
    """Sum along one axis with ``sum_over``, or all elements without NumPy's checks, which take as long as a small sum."""
    if others or type(axis) not in (int, type(None)) or type(keepdims) is not bool:
        return NotImplemented
    if axis is None or not -a.ndim <= axis < a.ndim:
        return np.asarray(_reduce(a, axis, keepdims=keepdims)), None
    if axis in (-1, a.ndim - 1) and a.shape[-1] > _WIDE:
        return _of_wide_rows(a, keepdims), None
    sums = sum_over(a, (axis % a.ndim,))
    return (sums if keepdims else sums.squeeze(axis)), None


def _of_wide_rows(a: Array, keepdims: bool) -> Any:
    """Sum long rows with one product for each of several equal parts. If there are no equal parts, use NumPy's sum."""
    row = a.shape[-1]
    parts = -(-row // _WIDE)
    if parts > _MOST or row % parts or a.size < MIN_PRODUCT or not a.flags.c_contiguous:
        return _reduce(a, -1, keepdims=keepdims)
    sums = sum_over(a.reshape(*a.shape[:-1], parts, row // parts), (a.ndim,))
    total = sums[..., 0].dot(ones(parts, a.dtype))
    return total[..., None] if keepdims else total


def _mean(a: Array, **keywords: Any) -> Any:
    if not 0 < a.size <= _EXACT or (computed := _sum(a, **keywords)) is NotImplemented:
        return NotImplemented
    total, _ = computed
    return total / (a.size // total.size), None


def _all_safe(a: Array, axis: Any, factor: float) -> bool:
    """Return whether no product along ``axis``, of any elements and at most ``factor``, can overflow, underflow or be 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, of_factor = np.abs(np.log(np.abs(a))), np.log(factor)
    return bool(sum_over(logs, axes_of(a.ndim, axis)).max() + of_factor < -np.log(np.finfo(a.dtype).tiny))


def _product(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a forward for calls without ``dtype``, ``initial`` and ``where``."""

    def forward(a: Array, axis: Any = None, **others: Any) -> Any:
        known = a.size and not others.keys() - {"keepdims"}
        return (np.asarray(function(a, axis, **others)), None) if known else NotImplemented

    return forward


def _prod_backward(g: Array, needs: Any, ans: Array, a: Array, a_shape: Any, axis: Any) -> tuple[Array]:
    if not _all_safe(a, axis, 1):
        return (reductions._prod_rule(g, a, a_shape, axis, True, 1),)
    others = expand(ans, a_shape, axis) / a
    others *= expand(g, a_shape, axis)
    return (others,)


def _cumprod_backward(g: Array, needs: Any, ans: Array, a: Array, a_shape: Any, axis: Any) -> tuple[Array]:
    """Divide the sums of ``g * ans`` from each element on by the element."""
    if axis is None or not _all_safe(a, axis, g.shape[axis] * np.abs(g).max()):
        return (reductions._cumprod_rule(g, a, ans, a_shape, axis),)
    back = (slice(None),) * (axis % a.ndim) + (slice(None, None, -1),)
    sums = np.cumsum((g * ans)[back], axis)[back]
    sums /= a
    return (sums,)


reductions.prod.kernel(np.ndarray, _product(np.prod), _prod_backward)
reductions.cumprod.kernel(np.ndarray, _product(np.cumprod), _cumprod_backward)
reductions.max.kernel(np.ndarray, _extreme(np.argmax))
reductions.min.kernel(np.ndarray, _extreme(np.argmin))
reductions.sum.kernel(np.ndarray, _sum, least=_FEW)
reductions.mean.kernel(np.ndarray, _mean)
