"""Task 5.2: scale and shift, backward."""

import numpy as np


def scale_and_shift(
    x: np.ndarray, scale: np.ndarray, shift: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of x, scale and shift in y = x * scale + shift, where g is the gradient of y."""
    dx = g * scale
    dscale = np.mean(g * x, axis=0)
    dshift = np.mean(g, axis=0)
    return dx, dscale, dshift
