"""Task 9.1: momentum."""

import numpy as np


def momentum(w: np.ndarray, gradients: list[np.ndarray], rate: float, beta: float) -> np.ndarray:
    """The weights after a step of momentum for each gradient."""
    v = 0
    for g in gradients:
        v = beta * v + g
        w = w - rate * (g + beta * v)
    return w
