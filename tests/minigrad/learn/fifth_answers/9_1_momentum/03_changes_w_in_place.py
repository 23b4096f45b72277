"""Task 9.1: momentum."""

import numpy as np


def momentum(w: np.ndarray, gradients: list[np.ndarray], rate: float, beta: float) -> np.ndarray:
    """The weights after a step of momentum for each gradient."""
    v = np.zeros_like(w)
    for g in gradients:
        v = beta * v + g
        w -= rate * v
    return w
