import numpy as np


def two_ways(x):
    a = x * x
    b = np.sin(x)
    dx = 0.0
    dx += a * np.cos(x)
    via_b = dx
    dx += b * 2 * x
    via_a = dx
    return a * b, via_a, via_b
