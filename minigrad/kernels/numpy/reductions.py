"""Faster forwards of ``np.sum``, ``np.mean``, ``np.max`` and ``np.min``; ``np.prod``, ``np.cumsum`` and ``np.cumprod``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.fitting import sum_over
from ...engine.types import Array
from ...rules import reductions
from ...rules.axes import count, expand
from .sums import accumulated, sums_from_each

_LONG = 1 << 12  # the longest row, in elements, for argmax; in longer rows np.max is as fast
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
    sums = sum_over(a, (axis % a.ndim,))
    return (sums if keepdims else sums.squeeze(axis)), None


def _mean(a: Array, **keywords: Any) -> Any:
    if not 0 < a.size <= _EXACT or (computed := _sum(a, **keywords)) is NotImplemented:
        return NotImplemented
    total, _ = computed
    return total / (a.size // total.size), None


def _running(ufunc: Any) -> Callable[..., Any]:
    """Return a forward of ``np.cumsum`` or ``np.cumprod`` along one axis."""

    def forward(a: Array, axis: Any = None, **others: Any) -> Any:
        known = type(axis) is int and -a.ndim <= axis < a.ndim and not others
        return (accumulated(ufunc, a, axis, np.empty_like(a)), None) if known else NotImplemented

    return forward


def _prod(a: Array, axis: Any = None, **others: Any) -> Any:
    known = a.size and not others.keys() - {"keepdims"}
    return (np.asarray(np.prod(a, axis, **others)), None) if known else NotImplemented


def _stays_normal(a: Array, axis: Any) -> bool:
    """Return whether no product of the first factors along ``axis`` is near overflow or underflow.

    A factor changes the magnitude by at most ``exp(widest)``. So if the products after each ``step`` factors are between
    ``exp(-limit)`` and ``exp(limit)``, all others are normal numbers.
    """
    size, limit = np.abs(a), -0.5 * float(np.log(np.finfo(a.dtype).tiny))
    widest = float(np.abs(np.log([size.min(), size.max()])).max())
    if count(a.shape, axis) * widest <= 2 * limit:
        return True
    a, axis = (a.reshape(-1), 0) if axis is None else (a, axis)
    if type(axis) is not int or not widest <= limit:
        return False
    axis, step = axis % a.ndim, int(limit / widest)
    before, n, after = a.shape[:axis], a.shape[axis] // step, a.shape[axis + 1 :]
    steps = a[(*[slice(None)] * axis, slice(n * step))].reshape(*before, n, step, *after)
    with np.errstate(all="ignore"):  # a product that leaves the range is what is looked for
        return bool(np.abs(np.log(np.abs(np.cumprod(np.prod(steps, axis + 1), axis)))).max() <= limit)


def _prod_backward(g: Array, needs: Any, ans: Array, a: Array, a_shape: Any, axis: Any) -> tuple[Array]:
    if not _stays_normal(a, axis):
        return (reductions._prod_rule(g, a, a_shape, axis, True, 1),)
    return (expand(ans, a_shape, axis) / a * expand(g, a_shape, axis),)


def _cumprod_backward(g: Array, needs: Any, ans: Array, a: Array, a_shape: Any, axis: int) -> tuple[Array]:
    """Divide the sums of ``g * ans`` from each element on by the element, unless a term is near overflow or underflow."""
    low, products, sizes = np.finfo(a.dtype).tiny ** 0.5, np.abs(ans), np.abs(g)
    normal = a.size and products.min() >= low and g.shape[axis] * products.max() * sizes.max() <= low**-2
    if not normal or ((sizes < low) & (sizes > 0)).any():
        return (reductions._cumprod_rule(g, a, ans, a_shape, axis),)
    return (sums_from_each(g * ans, axis) / a,)


reductions.prod.kernel(np.ndarray, _prod, _prod_backward)
reductions.cumsum.kernel(np.ndarray, _running(np.add), lambda g, needs, axis: (sums_from_each(g, axis),))
reductions.cumprod.kernel(np.ndarray, _running(np.multiply), _cumprod_backward)
reductions.max.kernel(np.ndarray, _extreme(np.argmax))
reductions.min.kernel(np.ndarray, _extreme(np.argmin))
reductions.sum.kernel(np.ndarray, _sum, least=_FEW)
reductions.mean.kernel(np.ndarray, _mean)
