"""``np.sum``, ``np.mean``, ``np.max`` and ``np.min`` in less time. Their derivatives are the plain rules."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.sums import LARGE, ones, sum_over
from ...engine.types import Array
from ...rules import reductions

_LONG = 1 << 12  # numbers in a row, of which NumPy finds the largest as fast as ``argmax`` does
_WIDE = 1 << 8  # numbers in a product: of more NumPy's sum is more exact
_MOST = 16  # such products in a row
_EXACT = 1 << 24  # the largest count that float32 holds, in which the sum is divided
_reduce: Callable[..., Any] = np.add.reduce


def _extreme(place: Callable[..., Any]) -> Callable[..., Any]:
    """Along contiguous rows by ``np.argmax`` (or ``argmin``), which is up to five times as fast."""

    def forward(a: Array, axis: Any = None, keepdims: Any = False, **others: Any) -> Any:
        row = a.shape[-1]
        if others or type(axis) is not int or type(keepdims) is not bool or axis not in (-1, a.ndim - 1):
            return NotImplemented
        if a.ndim < 2 or not 1 < row <= _LONG or not a.flags.c_contiguous:
            return NotImplemented
        where = place(a, -1, keepdims=keepdims)
        return a.take(where + np.arange(0, a.size, row).reshape(where.shape)), None

    return forward


def _sum(a: Array, axis: Any = None, keepdims: Any = False, **others: Any) -> Any:
    """Along one axis as the derivatives sum; else without NumPy's checks, which take as long as the sum of a small array."""
    if others or type(axis) not in (int, type(None)) or type(keepdims) is not bool:
        return NotImplemented
    if axis is None or not -a.ndim <= axis < a.ndim:
        return np.asarray(_reduce(a, axis, keepdims=keepdims)), None
    if axis in (-1, a.ndim - 1) and a.shape[-1] > _WIDE:
        return _of_wide_rows(a, keepdims), None
    sums = sum_over(a, (axis % a.ndim,))
    return (sums if keepdims else sums.squeeze(axis)), None


def _of_wide_rows(a: Array, keepdims: bool) -> Any:
    """Rows of more than ``_WIDE`` numbers: a product for each of equal parts, and the sum of these; else NumPy's sum."""
    row = a.shape[-1]
    parts = -(-row // _WIDE)
    if parts > _MOST or row % parts or a.size < LARGE or not a.flags.c_contiguous:
        return _reduce(a, -1, keepdims=keepdims)
    sums = sum_over(a.reshape(*a.shape[:-1], parts, row // parts), (a.ndim,))
    total = sums[..., 0].dot(ones(parts, a.dtype))
    return total[..., None] if keepdims else total


def _mean(a: Array, **keywords: Any) -> Any:
    if not 0 < a.size <= _EXACT or (computed := _sum(a, **keywords)) is NotImplemented:
        return NotImplemented
    total, _ = computed
    return total / (a.size // total.size), None


reductions.max.kernel(np.ndarray, _extreme(np.argmax))
reductions.min.kernel(np.ndarray, _extreme(np.argmin))
reductions.sum.kernel(np.ndarray, _sum)
reductions.mean.kernel(np.ndarray, _mean)
