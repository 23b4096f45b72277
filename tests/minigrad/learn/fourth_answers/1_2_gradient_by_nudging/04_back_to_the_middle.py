"""Task 1.2: nudge every number of an array."""

import numpy as np


def gradient(f, x, h=1e-05):
    grad = np.zeros(x.shape)
    for index, value in np.ndenumerate(x):
        nudged = x.copy()
        nudged[index] += h
        high = f(nudged)
        nudged[index] -= h
        low = f(nudged)
        grad[index] = (high - low) / (2 * h)
    return grad
