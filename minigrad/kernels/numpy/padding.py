"""Kernels of ``np.pad`` in the modes that copy elements, and of its transpose, which adds the copies."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.indexing import placed
from ...rules.padding import Shape, Widths, fold, pad_copies, sources

LEAST = 1 << 14  # elements; in a smaller array the copies are picked and added by a table of positions
LINES = 64  # new lines along all axes; in a larger array at most so many are added one by one
_table = lru_cache(maxsize=64)(sources)  # the positions in small arrays, which a program pads again and again


def _pad_copies(array: Array, width: Widths, mode: Any) -> Any:
    if array.size >= LEAST:
        return NotImplemented
    return array.reshape(-1)[_table(array.shape, width, mode)], None


def _fold(padded: Array, shape: Shape, width: Widths, mode: Any) -> Any:
    if padded.size < LEAST or sum(map(sum, width)) > LINES:
        return placed(padded, _table(shape, width, mode), (math.prod(shape),)).reshape(shape), None
    for axis in [i for i in reversed(range(len(shape))) if any(width[i])] or [0]:
        (before, after), n, here = width[axis], shape[axis], (slice(None),) * axis
        ans = padded[(*here, slice(before, before + n))].copy()
        for i, source in enumerate(np.pad(np.arange(n), (before, after), mode).tolist()):
            if not before <= i < before + n:
                ans[(*here, source)] += padded[(*here, i)]
        padded = ans
    return padded, None


pad_copies.kernel(np.ndarray, _pad_copies)
fold.kernel(np.ndarray, _fold)
