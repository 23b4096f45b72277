"""Task 9.1: momentum."""

import numpy as np


def momentum(w: np.ndarray, gradients: list[np.ndarray], rate: float, beta: float) -> np.ndarray:
    """The weights after a step of momentum for each gradient."""
    velocity = np.zeros(w.shape)
    weights = w.copy()
    for gradient in gradients:
        weights = weights - rate * velocity
        velocity = beta * velocity + gradient
    return weights
