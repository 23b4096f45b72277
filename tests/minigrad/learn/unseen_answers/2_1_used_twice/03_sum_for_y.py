"""Task 2.1: one value, used twice.

    a = x * x
    b = sin(x)
    y = a * b

x leads to y along two ways, through a and through b. Nudge x: a changes, and b changes, and both change y.
So the gradient of x is a sum, one addend for each way:

    dy/dx = dy/da * da/dx  +  dy/db * db/dx

Write two_ways(x), which returns three numbers: y, what comes through a, and what comes through b.

Example: x = 2: a = 4, b = 0.9093, y = 3.6372;
    through a: b * 2 x = 3.6372, through b: a * cos(x) = -1.6646 (their sum, 1.9726, is what nudging x shows)
"""

import numpy as np


def two_ways(x: float) -> tuple[float, float, float]:
    """y, and what the gradient of x gets through a and through b."""
    a = x * x
    b = np.sin(x)
    through_a = b * 2 * x
    through_b = a * np.cos(x)
    y = through_a + through_b
    return y, through_a, through_b
