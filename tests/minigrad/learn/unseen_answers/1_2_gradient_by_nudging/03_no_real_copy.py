"""Task 1.2: nudge every number of an array.

Now f takes an array of any shape and returns one number. The gradient of f is an array of the same shape as x: at each place
stands how fast f changes when the number at that place alone is nudged.

    gradient[i] = (f(x with h added at i) - f(x with h subtracted at i)) / (2 h)

Write gradient(f, x, h). x is an array of floats; it must be the same after the call as before, so nudge a copy.
You may call f twice for each number in x, no more often.

Example: f(x) = x[0] * x[1] at x = [2, 5]:
    nudging x[0] changes f 5 times as fast, nudging x[1] twice as fast: the gradient is [5, 2]
"""

from collections.abc import Callable

import numpy as np


def gradient(f: Callable[[np.ndarray], float], x: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """The gradient of f at x, of the shape of x, by nudging one number at a time."""
    result = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        right = x
        left = x
        right[at] += h
        left[at] -= h
        result[at] = (f(right) - f(left)) / (2 * h)
    return result
