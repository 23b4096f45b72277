"""Task 4.2: reverse mode, the vector-Jacobian product."""

import numpy as np


def vjp(W: np.ndarray, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y = tanh(W @ x), and the gradients of W and x where g is the gradient of y."""
    z = W @ x
    y = np.tanh(z)
    gz = g * (1 - y * y)
    gW = gz[:, None] * x[None, :]
    gx = W.T @ g
    return y, gW, gx
