"""Task 2.1: one value, used twice.

    a = x * x
    b = sin(x)
    y = a * b

x leads to y along two ways, through a and through b. Nudge x: a changes, and b changes, and both change y.
So the gradient of x is a sum, one addend for each way:

    dy/dx = dy/da * da/dx  +  dy/db * db/dx

Write two_ways(x), which returns three numbers: y, what comes through a, and what comes through b.

Example: x = 3: a = 9, b = 0.1411, y = 1.2701;
    through a: b * 2 x = 0.8467, through b: a * cos(x) = -8.9099 (their sum, -8.0632, is what nudging x shows)
"""

import numpy as np


def two_ways(x: float) -> tuple[float, float, float]:
    """y, and what the gradient of x gets through a and through b."""
    raise NotImplementedError
