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
    for gradient, rate in zip(gradients, rates):
        w = w - rate * direction(gradient)
        w = w - rate * decay * w
    return w
