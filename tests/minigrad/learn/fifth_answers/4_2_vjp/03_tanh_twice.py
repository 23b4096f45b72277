"""Task 4.2: reverse mode, the vector-Jacobian product."""

import numpy as np


def vjp(W: np.ndarray, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y = tanh(W @ x), and the gradients of W and x where g is the gradient of y."""
    y = np.tanh(W @ x)
    slope = 1 - np.tanh(y) ** 2
    gz = g * slope
    m, n = W.shape
    gW = np.zeros((m, n))
    gx = np.zeros(n)
    for i in range(m):
        for j in range(n):
            gW[i, j] = gz[i] * x[j]
            gx[j] += gz[i] * W[i, j]
    return y, gW, gx
