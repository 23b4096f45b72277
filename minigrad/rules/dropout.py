"""Dropout with a mask that depends only on a key and a step, so the same key and step always give the same mask."""

import math
from typing import Any

import numpy as np

from ..engine.primitive import primitive
from ..engine.types import Array


def mask(x: Array, key: int, step: int, threshold: int) -> Array:
    """Return 0 where an element of x is dropped and ``scale_of(threshold)`` elsewhere; each element uses 16 random bits."""
    size = math.prod(x.shape)
    philox = np.random.Philox(key=np.array([key, step], np.uint64))
    bits = philox.random_raw(-(-size // 4)).view(np.uint16)[:size].reshape(x.shape)
    return np.asarray(np.multiply(bits >= threshold, scale_of(threshold), dtype=x.dtype), like=x[...])


def scale_of(threshold: int) -> float:
    """Return the factor that keeps the mean when ``threshold`` of every 65536 elements are dropped."""
    return 65536 / (65536 - threshold)


def _dropout(x: Array, /, key: int, step: int, threshold: int) -> Array:
    """Set ``threshold`` of every 65536 elements of ``x`` to 0 and scale the others so that the expected value is kept.

    See Srivastava et al. 2014, JMLR 15. The bits come from the counter-based generator Philox (Salmon et al. 2011).
    """
    return x * mask(x, key, step, threshold)


# Dropout is linear in x, so its derivative is dropout with the same mask.
dropout: Any = primitive(_dropout, name="dropout").vjp(
    x=lambda g, key, step, threshold: dropout(g, key=key, step=step, threshold=threshold)
)
