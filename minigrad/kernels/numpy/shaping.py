"""Kernels of ``np.tril`` and ``np.triu``."""

from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.shaping import tril, triu

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


tril.kernel(np.ndarray, _triangle(lower=True))
triu.kernel(np.ndarray, _triangle(lower=False))
