"""Task 10.4: a code for the place of each word."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    pairs = (d + 1) // 2
    if pairs > 1:
        factor = base ** (1 / (pairs - 1))
    else:
        factor = 1.0
    out = np.zeros((n, d))
    t = np.arange(n)
    speed = 1.0
    for p in range(pairs):
        out[:, 2 * p] = np.sin(t * speed)
        if 2 * p + 1 < d:
            out[:, 2 * p + 1] = np.cos(t * speed)
        speed = speed / factor
    return out
