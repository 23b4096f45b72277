"""Task 5.1: undo broadcasting.

NumPy stretches small arrays to fit large ones: in x + b with x of shape (2, 3) and b of shape (3,), b is used for both rows.
A value that is used twice gets two addends (task 2.1): so the gradient of b is a sum over the rows.

In general: an array of some shape was stretched, and g is the gradient of the stretched array. Two things can have happened to
the array: axes were added in front, and axes of length 1 became longer. Undo both, so that each number gets the sum of the
gradients of all its copies. The second kind of axis stays, with length 1.

Write unbroadcast(g, shape), which returns an array of that shape. If nothing was stretched, that is g.
Keep the precision: where g is float32, so is the result.

Example: g = [[1, 2, 3], [4, 5, 6]]
    shape (3,) gives [5, 7, 9];  shape (2, 1) gives [[6], [15]];  shape () gives 21
"""

import numpy as np


def unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient of an array of this shape, where g is the gradient of what it was broadcast to."""
    while g.ndim > len(shape):
        g = g.sum(axis=-1)
    for i in range(len(shape)):
        if shape[i] == 1:
            g = g.sum(axis=i, keepdims=True)
    return g
