"""Task 5.2: scale and shift, backward."""

import numpy as np


def scale_and_shift(
    x: np.ndarray, scale: np.ndarray, shift: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of x, scale and shift in y = x * scale + shift, where g is the gradient of y."""
    gx = g * scale
    gscale = g * x
    gshift = g.sum(axis=0)
    return gx, gscale, gshift
