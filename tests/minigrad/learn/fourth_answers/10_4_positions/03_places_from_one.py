"""Task 10.4: a code for the place of each word."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    speeds = base ** (-np.arange(0, d, 2) / d)
    angles = np.outer(np.arange(1, n + 1), speeds)
    code = np.empty((n, d))
    code[:, 0::2] = np.sin(angles)
    code[:, 1::2] = np.cos(angles)[:, : d // 2]
    return code
