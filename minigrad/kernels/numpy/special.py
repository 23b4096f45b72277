"""Kernels of the error function in float64, and of SciPy's logistic functions."""

import numpy as np

from ...engine.primitive import Primitive
from ...engine.types import Array
from ...rules.neural import logistic
from ...rules.special import erf_of_float64
from .elementwise import compute_by

BLOCK = 1 << 15  # elements; more leave the cache between two terms of the sums


def _in_blocks(x: Array) -> Array:
    if type(x) is not np.ndarray or x.size <= BLOCK:
        return NotImplemented
    flat = x.reshape(-1)
    parts = [erf_of_float64.formula(flat[i : i + BLOCK]) for i in range(0, x.size, BLOCK)]
    return np.concatenate(parts).reshape(x.shape)


erf_of_float64.kernel(_in_blocks)


def attach_to_scipy(expit: Primitive, logit: Primitive) -> None:
    """Compute SciPy's functions by formulas for whole arrays; ``minigrad.scipy_special`` calls this when it is imported."""
    compute_by(expit, logistic)
    compute_by(logit, _logit)


def _logit(x: Array) -> Array:
    """Return ``log(x / (1 - x))`` as an inverse hyperbolic sine, whose argument keeps its digits near 0, 1/2 and 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return 2 * np.arcsinh((x - 0.5) / np.sqrt(x * (1 - x)))
