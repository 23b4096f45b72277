import numpy as np


def gradient(f, x, h=1e-5):
    result = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.full_like(x, h)
        step[place] = h
        result[place] = (f(x + step) - f(x - step)) / (2 * h)
    return result
