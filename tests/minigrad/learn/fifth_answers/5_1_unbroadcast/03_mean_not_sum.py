"""Task 5.1: undo broadcasting."""

import numpy as np


def unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of an array of this shape, where g is the gradient of what it was broadcast to."""
    while g.ndim > len(shape):
        g = g.mean(axis=0)
    for axis, length in enumerate(shape):
        if length == 1 and g.shape[axis] != 1:
            g = g.mean(axis=axis, keepdims=True)
    return g
