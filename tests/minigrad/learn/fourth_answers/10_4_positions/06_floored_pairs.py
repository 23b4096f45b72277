"""Task 10.4: a code for the place of each word."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    half = d // 2
    code = np.zeros((n, d))
    places = np.arange(n)
    for pair in range((d + 1) // 2):
        speed = base ** (-pair / half) if half else 1.0
        code[:, 2 * pair] = np.sin(places * speed)
        if 2 * pair + 1 < d:
            code[:, 2 * pair + 1] = np.cos(places * speed)
    return code
