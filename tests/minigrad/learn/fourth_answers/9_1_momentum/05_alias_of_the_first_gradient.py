"""Task 9.1: momentum."""

import numpy as np


def momentum(w: np.ndarray, gradients: list[np.ndarray], rate: float, beta: float) -> np.ndarray:
    """The weights after a step of momentum for each gradient."""
    if not gradients:
        return w
    v = gradients[0]
    w = w - rate * v
    for g in gradients[1:]:
        v *= beta
        v += g
        w = w - rate * v
    return w
