"""The kernel of dropout. It keeps the mask for the backward pass; the plain rule draws the mask a second time."""

import numpy as np

from ...engine.types import Array
from ...rules.dropout import dropout, mask
from .rows import Needs


def _dropout_forward(x: Array, key: int, step: int, threshold: int) -> tuple[Array, Array]:
    factors = mask(x, key, step, threshold)
    return x * factors, factors


def _dropout_backward(g: Array, needs: Needs, saved: Array) -> tuple[Array]:
    return (g * saved,)


dropout.kernel(np.ndarray, _dropout_forward, _dropout_backward)
