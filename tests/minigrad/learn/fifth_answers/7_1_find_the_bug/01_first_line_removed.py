"""Task 7.1: find the planted bug."""

import numpy as np


def network(
    x: np.ndarray, W1: np.ndarray, W2: np.ndarray, y: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """The loss, and the gradients of x, W1 and W2."""
    z = x @ W1
    h = np.maximum(z, 0)
    out = x + h @ W2
    error = out - y
    loss = (error**2).sum()

    g_out = 2 * error
    gW2 = h.T @ g_out
    gh = g_out @ W2.T
    gz = gh * (z > 0)
    gW1 = x.T @ gz
    gx = gz @ W1.T
    return loss, gx, gW1, gW2
