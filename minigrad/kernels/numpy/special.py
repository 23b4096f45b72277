"""The kernel of the error function in float64."""

import numpy as np

from ...engine.types import Array
from ...rules.special import erf_of_float64

BLOCK = 1 << 15  # elements; more leave the cache between two terms of the sums


def _in_blocks(x: Array) -> Array:
    if type(x) is not np.ndarray or x.size <= BLOCK:
        return NotImplemented
    flat = x.reshape(-1)
    parts = [erf_of_float64.formula(flat[i : i + BLOCK]) for i in range(0, x.size, BLOCK)]
    return np.concatenate(parts).reshape(x.shape)


erf_of_float64.kernel(_in_blocks)
