"""Task 2.1: one value, used twice."""

import numpy as np


def two_ways(x: float) -> tuple[float, float, float]:
    """y, and what the gradient of x gets through a and through b."""
    a = x ** 2
    b = np.sin(x)
    dy_da = b
    dy_db = a
    da_dx = 2 * x
    db_dx = -np.cos(x)
    return a * b, dy_da * da_dx, dy_db * db_dx
