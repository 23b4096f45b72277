"""Task 4.1: forward mode, the Jacobian-vector product."""

import numpy as np


def jvp(W: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y = tanh(W @ x), and how y changes when x moves along v."""
    m, n = W.shape
    z = np.zeros(m)
    change = np.zeros(m)
    for i in range(m):
        for j in range(n):
            z[i] += W[i, j] * x[j]
            change[i] += W[i, j] * v[j]
    y = np.tanh(z)
    return y, change
