"""Task 5.2: scale and shift, backward."""

import numpy as np


def scale_and_shift(
    x: np.ndarray, scale: np.ndarray, shift: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of x, scale and shift in y = x * scale + shift, where g is the gradient of y."""
    dx = scale * g
    dscale = np.sum(x * g, axis=1)
    dshift = np.sum(g, axis=1)
    return dx, dscale, dshift
