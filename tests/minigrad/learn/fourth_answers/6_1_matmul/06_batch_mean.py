"""Task 6.1: the matrix product, backward."""

import numpy as np


def matmul_backward(x: np.ndarray, W: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of x and W in y = x @ W, where g is the gradient of y."""
    gx = np.matmul(g, W.T)
    gW = np.matmul(np.swapaxes(x, -1, -2), g)
    while gW.ndim > 2:
        gW = gW.mean(axis=0)
    return gx, gW
