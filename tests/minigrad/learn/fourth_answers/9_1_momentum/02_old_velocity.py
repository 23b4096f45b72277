"""Task 9.1: momentum."""

import numpy as np


def momentum(w: np.ndarray, gradients: list[np.ndarray], rate: float, beta: float) -> np.ndarray:
    """The weights after a step of momentum for each gradient."""
    velocity = np.zeros(w.shape)
    for gradient in gradients:
        w = w - rate * velocity
        velocity = beta * velocity + gradient
    return w
