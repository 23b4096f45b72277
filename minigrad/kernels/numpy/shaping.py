"""Kernels of triangles, and of sums of windows that overlap."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.shaping import overlapped, tril, triu

LEAST = 1 << 12  # elements; NumPy's ``where`` is as fast for fewer


def _triangle(lower: bool) -> Any:
    """Return a forward of ``np.tril`` or ``np.triu`` that copies under a mask."""

    def forward(m: Array, k: int = 0) -> Any:
        if m.ndim < 2 or m.size < LEAST:
            return NotImplemented
        ans = np.zeros_like(m)
        np.copyto(ans, m, where=np.tri(m.shape[-2], m.shape[-1], k if lower else k - 1, bool) == lower)
        return ans, None

    return forward


def _overlapped(windows: Array, axis: int) -> Any:
    """Swap the axes if there are fewer windows than elements in one: the k-th elements of all windows are a window, too."""
    if windows.shape[axis] >= windows.shape[-1]:
        return NotImplemented
    return overlapped.function(windows.swapaxes(axis, -1), axis), None


tril.kernel(np.ndarray, _triangle(lower=True))
triu.kernel(np.ndarray, _triangle(lower=False))
overlapped.kernel(np.ndarray, _overlapped)
