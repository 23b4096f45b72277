"""The kernel of sums at an index: it adds long rows one by one."""

import math
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.indexing import added

LEAST = 1 << 9  # elements of a row; adding shorter ones at a flat index is as fast


def _by_rows(out: Array, index: Any, updates: Array) -> Array:
    row = out.shape[1:]
    if getattr(index, "dtype", out.dtype).kind not in "iu" or type(out) is not np.ndarray or math.prod(row) < LEAST:
        return NotImplemented
    for i, update in zip(index.reshape(-1).tolist(), updates.reshape(-1, *row)):
        out[i] += update
    return out


added.kernel(_by_rows)
