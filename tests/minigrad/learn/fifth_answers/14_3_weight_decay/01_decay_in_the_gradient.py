"""Task 14.3: the weight decay of AdamW."""

from collections.abc import Callable

import numpy as np


def adamw(
    w: np.ndarray,
    gradients: list[np.ndarray],
    direction: Callable[[np.ndarray], np.ndarray],
    rates: list[float],
    decay: float,
) -> np.ndarray:
    """The weights after a step for each gradient."""
    for g, rate in zip(gradients, rates):
        step = direction(g + decay * w)
        w = w - rate * step
    return w
