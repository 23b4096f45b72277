"""Dropout as a function of its counters: the same numbers give the same mask, wherever and whenever it is made."""

import math
from typing import Any

import numpy as np

from ..engine.primitive import primitive
from ..engine.types import Array


def mask(x: Array, key: int, step: int, threshold: int) -> Array:
    """0 where an element of x is dropped, elsewhere what makes up for it: 16 random bits an element, four from a number."""
    size = math.prod(x.shape)
    philox = np.random.Philox(key=np.array([key, step], np.uint64))
    bits = philox.random_raw(-(-size // 4)).view(np.uint16)[:size].reshape(x.shape)
    return np.asarray(np.multiply(bits >= threshold, scale_of(threshold), dtype=x.dtype), like=x)


def scale_of(threshold: int) -> float:
    """What keeps the mean where ``threshold`` of every 65536 elements are dropped."""
    return 65536 / (65536 - threshold)


def _dropout(x: Array, /, key: int, step: int, threshold: int) -> Array:
    """``x`` with ``threshold`` of every 65536 elements set to 0, and the others scaled so that the mean stays.

    Srivastava et al. 2014, JMLR 15. The bits come from the counter-based generator Philox (Salmon et al. 2011).
    """
    return x * mask(x, key, step, threshold)


# Linear in x, and so its own derivative.
dropout: Any = primitive(_dropout, name="dropout").vjp(
    x=lambda g, key, step, threshold: dropout(g, key=key, step=step, threshold=threshold)
)
