"""``np.max``, ``np.min`` and ``np.mean``: the same numbers in less time. Their derivatives are the plain rules."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules import reductions

_LONG = 1 << 12  # numbers in a row, of which NumPy finds the largest as fast as ``argmax`` does
_EXACT = 1 << 24  # the largest count that float32 holds, in which the sum is divided
_sum: Callable[..., Any] = np.add.reduce


def _extreme(place: Callable[..., Any]) -> Callable[..., Any]:
    """Along contiguous rows by ``np.argmax`` (or ``argmin``), which is up to five times as fast."""

    def forward(a: Array, axis: Any = None, **others: Any) -> Any:
        row = a.shape[-1]
        if axis not in (-1, a.ndim - 1) or not 1 < row <= _LONG or others.keys() - {"keepdims"} or a.ndim < 2:
            return NotImplemented
        if not a.flags.c_contiguous:
            return NotImplemented
        where = place(a, -1, **others)
        return a.take(where + np.arange(0, a.size, row).reshape(where.shape)), None

    return forward


def _mean(a: Array, axis: Any = None, keepdims: bool = False, **others: Any) -> Any:
    """Without the checks of ``np.mean``, which take as long as the sum of a small array."""
    if others or not 0 < a.size <= _EXACT:
        return NotImplemented
    total = _sum(a, axis, keepdims=keepdims)
    return total / (a.size // total.size), None


reductions.max.kernel(np.ndarray, _extreme(np.argmax))
reductions.min.kernel(np.ndarray, _extreme(np.argmin))
reductions.mean.kernel(np.ndarray, _mean)
