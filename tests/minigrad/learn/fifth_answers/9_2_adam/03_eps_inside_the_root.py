"""Task 9.2: Adam."""

import numpy as np


def adam(
    w: np.ndarray,
    gradients: list[np.ndarray],
    rate: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> np.ndarray:
    """The weights after a step of Adam for each gradient."""
    m = np.zeros_like(w, dtype=float)
    v = np.zeros_like(w, dtype=float)
    for t in range(1, len(gradients) + 1):
        g = gradients[t - 1]
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        mc = m / (1 - beta1**t)
        vc = v / (1 - beta2**t)
        w = w - rate * mc / np.sqrt(vc + eps)
    return w
