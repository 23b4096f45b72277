"""Task 5.2: scale and shift, backward."""

import numpy as np


def scale_and_shift(
    x: np.ndarray, scale: np.ndarray, shift: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of x, scale and shift in y = x * scale + shift, where g is the gradient of y."""
    g_x = g * scale
    g_scale = x.sum(axis=0)
    g_shift = g.sum(axis=0)
    return g_x, g_scale, g_shift
