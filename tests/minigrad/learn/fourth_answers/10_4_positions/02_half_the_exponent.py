"""Task 10.4: a code for the place of each word."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    result = np.zeros((n, d))
    for pos in range(n):
        for i in range((d + 1) // 2):
            angle = pos / base ** (i / d)
            result[pos, 2 * i] = np.sin(angle)
            if 2 * i + 1 < d:
                result[pos, 2 * i + 1] = np.cos(angle)
    return result
