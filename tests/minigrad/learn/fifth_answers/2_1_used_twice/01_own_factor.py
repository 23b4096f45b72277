"""Task 2.1: one value, used twice."""

import numpy as np


def two_ways(x: float) -> tuple[float, float, float]:
    """y, and what the gradient of x gets through a and through b."""
    a = x * x
    b = np.sin(x)
    y = a * b
    return y, a * 2 * x, b * np.cos(x)
