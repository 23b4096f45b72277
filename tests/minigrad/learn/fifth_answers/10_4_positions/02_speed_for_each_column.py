"""Task 10.4: a code for the place of each word."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    columns = np.arange(d)
    speeds = base ** (-columns / d)
    angles = np.arange(n)[:, None] * speeds
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))
