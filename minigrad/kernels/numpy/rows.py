"""What the kernels share: an array as rows, and sums over them as products."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.types import Array

Needs = Sequence[bool]

_KEPT = 1 << 15  # numbers in the longest vector of ones that is kept, 128 KiB in float32


def ones(n: int, dtype: Any, value: float = 1.0) -> Array:
    """A vector that turns sums (or means) into products, which are several times faster. It is not to be written to."""
    return filled(n, dtype, value) if n <= _KEPT else np.full(n, value, dtype)


@functools.lru_cache(maxsize=64)
def filled(n: int, dtype: Any, value: float) -> Array:
    vector = np.full(n, value, dtype)
    vector.flags.writeable = False
    return vector


def as_rows(a: Array) -> Array:
    """``a`` as a matrix: all axes but the last in one."""
    return a.reshape(-1, a.shape[-1]) if a.size else a.reshape(math.prod(a.shape[:-1]), a.shape[-1])


def row_sums(rows: Array, weights: Array, out: Any = None) -> Array:
    """``rows @ weights``, the sum of each row with these weights."""
    if len(weights) == 5:  # of float32 rows of 5 OpenBLAS reads a number that nobody wrote: if it is a NaN, NumPy warns
        return np.vecdot(rows, weights, out=out)
    return rows.dot(weights, out)
