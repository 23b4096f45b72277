"""Task 9.1: momentum."""

import numpy as np


def momentum(w: np.ndarray, gradients: list[np.ndarray], rate: float, beta: float) -> np.ndarray:
    """The weights after a step of momentum for each gradient."""
    v = np.zeros_like(w, dtype=float)
    for g in gradients:
        v = beta * v + (1 - beta) * g
        w = w - rate * v
    return w
