"""Task 10.4: a code for the place of each word."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    code = np.zeros((n, d))
    for place in range(n):
        for column in range(d):
            pair = column // 2
            angle = place / base ** (pair / d)
            if column % 2 == 0:
                code[place, column] = np.sin(angle)
            else:
                code[place, column] = np.cos(angle)
    return code
