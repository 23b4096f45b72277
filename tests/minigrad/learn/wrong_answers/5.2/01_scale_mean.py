import numpy as np


def scale_and_shift(
    x: np.ndarray, scale: np.ndarray, shift: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    gx = g * scale
    gscale = np.mean(g * x, axis=0)
    gshift = np.sum(g, axis=0)
    return gx, gscale, gshift
