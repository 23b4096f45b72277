"""Task 2.1: one value, used twice."""

import numpy as np


def two_ways(x: float) -> tuple[float, float, float]:
    """y, and what the gradient of x gets through a and through b."""
    a = x * x
    b = np.sin(x)
    y = a * b
    grad_x = 0.0
    grad_x += b * 2 * x
    through_a = grad_x
    grad_x += a * np.cos(x)
    through_b = grad_x
    return y, through_a, through_b
