"""What the kernels share: an array as rows, and their sums as products."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.types import Array

Needs = Sequence[bool]


def as_rows(a: Array) -> Array:
    """``a`` as a matrix: all axes but the last in one."""
    return a.reshape(-1, a.shape[-1]) if a.size else a.reshape(math.prod(a.shape[:-1]), a.shape[-1])


def row_sums(rows: Array, weights: Array, out: Any = None) -> Array:
    """``rows @ weights``, the sum of each row with these weights."""
    if len(weights) == 5:  # of float32 rows of 5 OpenBLAS reads a number that nobody wrote: if it is a NaN, NumPy warns
        return np.vecdot(rows, weights, out=out)
    return rows.dot(weights, out)
