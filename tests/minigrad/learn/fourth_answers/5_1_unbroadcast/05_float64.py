"""Task 5.1: undo broadcasting."""

import numpy as np


def unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of an array of this shape, where g is the gradient of what it was broadcast to."""
    result = np.zeros(shape)
    extra = g.ndim - len(shape)
    for index in np.ndindex(g.shape):
        place = tuple(0 if n == 1 else i for i, n in zip(index[extra:], shape))
        result[place] += g[index]
    return result
