"""Task 5.1: undo broadcasting."""

import numpy as np


def unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of an array of this shape, where g is the gradient of what it was broadcast to."""
    extra = g.ndim - len(shape)
    return g.sum(axis=tuple(range(extra)))
