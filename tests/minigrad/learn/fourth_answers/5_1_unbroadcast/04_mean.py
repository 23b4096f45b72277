"""Task 5.1: undo broadcasting."""

import numpy as np


def unbroadcast(g, shape):
    for _ in range(g.ndim - len(shape)):
        g = np.mean(g, axis=0)
    for axis in range(len(shape)):
        if shape[axis] == 1 and g.shape[axis] > 1:
            g = np.mean(g, axis=axis, keepdims=True)
    return g
