"""Dropout that keeps its mask for the backward pass, in which it would be drawn again otherwise."""

from typing import Any

import numpy as np

from ...rules.dropout import dropout, mask
from .rows import Needs


def _dropout_forward(x: Any, key: int, step: int, threshold: int) -> tuple[Any, Any]:
    factors = mask(x, key, step, threshold)
    return x * factors, factors


def _dropout_backward(g: Any, needs: Needs, saved: Any) -> tuple[Any]:
    return (g * saved,)


dropout.kernel(np.ndarray, _dropout_forward, _dropout_backward)
