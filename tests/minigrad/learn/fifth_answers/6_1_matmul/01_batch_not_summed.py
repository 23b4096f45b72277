"""Task 6.1: the matrix product, backward."""

import numpy as np


def matmul_backward(x: np.ndarray, W: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of x and W in y = x @ W, where g is the gradient of y."""
    gx = g @ W.T
    gW = np.swapaxes(x, -1, -2) @ g
    return gx, gW
