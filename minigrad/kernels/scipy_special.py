"""Kernels of SciPy's special functions: formulas of NumPy for large arrays, for which SciPy's own loops take longer.

``minigrad.scipy_special`` imports this file, and so attaches them.
"""

from typing import Any

import numpy as np

from ..engine.types import Array
from ..rules.neural import logistic
from ..rules.scipy_special import _polygamma, expit
from .numpy.elementwise import large_by

LEAST = 1 << 8  # elements; for fewer, the calls of NumPy take longer than SciPy's loop
_BLOCK = 1 << 14  # elements in a block of trigamma, whose arrays stay in the cache


# The terms of trigamma(z) - 1 / z, from z = 10 on: the Bernoulli numbers B_2k over z^(2k + 1), the highest power first.
_BERNOULLI = [7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6]


def _trigamma(x: Any) -> Any:
    """Sum 1 / (x + k)^2 for k < 10, and the asymptotic series at x + 10 (Abramowitz and Stegun, 6.4.6 and 6.4.12)."""
    x = np.asarray(x, np.float64)
    if x.size > _BLOCK:
        flat = x.reshape(-1)
        return np.concatenate([_trigamma(flat[i : i + _BLOCK]) for i in range(0, x.size, _BLOCK)]).reshape(x.shape)
    with np.errstate(over="ignore"):
        inverse = 1 / (x + 10)
        square, total = inverse * inverse, np.zeros_like(x)
        for coefficient in _BERNOULLI:
            total = total * square + coefficient
        total = square * (0.5 + inverse * total)
        for k in range(9, -1, -1):
            total += np.square(1 / (x + k))
    return total + inverse


def _trigamma_of_large(x: Array, n: int) -> Any:
    if n != 1 or x.size <= LEAST or not (x > 0).all():
        return NotImplemented
    return _trigamma(x).astype(x.dtype, copy=False), None


large_by(expit, logistic)
_polygamma.kernel(np.ndarray, _trigamma_of_large)
