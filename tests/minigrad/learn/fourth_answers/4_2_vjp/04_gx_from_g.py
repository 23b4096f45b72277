"""Task 4.2: reverse mode, the vector-Jacobian product."""

import numpy as np


def vjp(W: np.ndarray, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y = tanh(W @ x), and the gradients of W and x where g is the gradient of y."""
    y = np.tanh(W @ x)
    gz = g * (1 - y**2)
    gW = np.zeros(W.shape)
    gx = np.zeros(x.shape)
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            gW[i, j] = gz[i] * x[j]
            gx[j] += g[i] * W[i, j]
    return y, gW, gx
