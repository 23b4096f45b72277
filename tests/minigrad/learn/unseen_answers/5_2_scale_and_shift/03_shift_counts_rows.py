"""Task 5.2: scale and shift, backward.

A layer scales each column of x by a number of its own and adds another:

    y = x * scale + shift        x: (rows, columns), scale and shift: (columns,)

Write scale_and_shift(x, scale, shift, g), where g, of the shape of y, is the gradient of y. It returns the gradients of
x, scale and shift, each of the shape of what it belongs to.

(* multiplies number by number, so each factor is the slope of the other. Then think of task 5.1.)

Example: x = [[1, 2], [3, 4]], scale = [10, 100], shift = [0, 0], g = [[1, 1], [1, 1]]:
    the gradient of x is [[10, 100], [10, 100]], of scale [4, 6], of shift [2, 2]
"""

import numpy as np


def scale_and_shift(
    x: np.ndarray, scale: np.ndarray, shift: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of x, scale and shift in y = x * scale + shift, where g is the gradient of y."""
    rows = x.shape[0]
    gx = g * scale
    gscale = np.sum(g * x, axis=0)
    gshift = np.ones_like(shift) * rows
    return gx, gscale, gshift
