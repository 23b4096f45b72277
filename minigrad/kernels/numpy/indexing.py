"""The kernel of sums at an index of integers: it adds long rows one by one."""

import math
from typing import Any

import numpy as np

from ...engine.types import Array
from ...rules.indexing import add_rows

LEAST = 3 << 7  # elements of a row; adding shorter ones at a flat index is as fast


def _one_by_one(out: Array, index: Array, updates: Array) -> Any:
    row = out.shape[1:]
    if type(out) is not np.ndarray or math.prod(row) < LEAST:
        return NotImplemented
    for i, update in zip(index.reshape(-1).tolist(), updates.reshape(-1, *row)):
        out[i] += update
    return None


add_rows.kernel(_one_by_one)
