"""Task 10.4: a code for the place of each word."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    pairs = (d + 1) // 2
    speeds = [base ** (-i / max(pairs - 1, 1)) for i in range(pairs)]
    code = np.zeros((n, d))
    for p in range(n):
        for i, speed in enumerate(speeds):
            code[p, 2 * i] = np.sin(p * speed)
            if 2 * i + 1 < d:
                code[p, 2 * i + 1] = np.cos(p * speed)
    return code
