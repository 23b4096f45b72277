"""Task 10.4: a code for the place of each word."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    columns = np.arange(0, d, 2)
    angles = np.arange(n)[:, None] * base ** (-columns / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)[:, :d]
