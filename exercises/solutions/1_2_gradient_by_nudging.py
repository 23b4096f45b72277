"""A solution of 1.2."""

from collections.abc import Callable

import numpy as np


def gradient(f: Callable[[np.ndarray], float], x: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """The gradient of f at x, of the shape of x, by nudging one number at a time."""
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        right, left = x.copy(), x.copy()
        right[at] += h
        left[at] -= h
        found[at] = (f(right) - f(left)) / (2 * h)
    return found
