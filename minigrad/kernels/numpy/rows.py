"""Helpers of the kernels: view an array as rows, and sum rows by a matrix product."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.types import Array

Needs = Sequence[bool]


def as_rows(a: Array) -> Array:
    """Reshape ``a`` to a matrix. All axes except the last become one."""
    return a.reshape(-1, a.shape[-1]) if a.size else a.reshape(math.prod(a.shape[:-1]), a.shape[-1])


def row_sums(rows: Array, weights: Array, out: Any = None) -> Array:
    """Compute ``rows @ weights``, the weighted sum of each row."""
    if len(weights) == 5:  # for float32 rows of 5 OpenBLAS reads uninitialised memory; NumPy warns if that is a NaN
        return np.vecdot(rows, weights, out=out)
    return rows.dot(weights, out)
