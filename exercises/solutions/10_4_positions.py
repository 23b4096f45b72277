"""A solution of 10.4."""

import numpy as np


def positions(n: int, d: int, base: float = 10000.0) -> np.ndarray:
    """The codes of the places 0 to n - 1: sines and cosines of angles that grow fast or slowly."""
    column = np.arange(d)
    angle = np.arange(n)[:, None] / base ** (2 * (column // 2) / d)  # both columns of a pair have the same angle
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle))
