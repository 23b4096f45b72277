"""Task 7.2: find the bug, of the kind that in-place operations make."""

import numpy as np


def layer(x: np.ndarray, scale: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The output, and the gradients of x and scale, where g is the gradient of the output."""
    y = x.copy()
    y *= scale
    h = np.tanh(y)
    out = y + h

    gy = g + g * (1 - np.tanh(y) ** 2)
    return y, gy * scale, (gy * x).sum(axis=0)
