"""Task 6.1: the matrix product, backward."""

import numpy as np


def matmul_backward(x: np.ndarray, W: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of x and W in y = x @ W, where g is the gradient of y."""
    k, m = W.shape
    gx = g @ W.T
    gW = np.swapaxes(g, -1, -2) @ x
    return gx, gW.reshape(-1, m, k).sum(axis=0)
