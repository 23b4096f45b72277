"""A solution of 6.1."""

import numpy as np


def matmul_backward(x: np.ndarray, W: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of x and W in y = x @ W, where g is the gradient of y."""
    gW = np.swapaxes(x, -1, -2) @ g
    return g @ W.T, gW.sum(axis=tuple(range(gW.ndim - 2)))
