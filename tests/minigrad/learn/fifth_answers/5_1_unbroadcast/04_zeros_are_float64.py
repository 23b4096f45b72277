"""Task 5.1: undo broadcasting."""

import numpy as np


def unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of an array of this shape, where g is the gradient of what it was broadcast to."""
    result = np.zeros(shape)
    skip = g.ndim - len(shape)
    for index in np.ndindex(g.shape):
        place = []
        for axis, length in enumerate(shape):
            place.append(0 if length == 1 else index[skip + axis])
        result[tuple(place)] += g[index]
    return result
