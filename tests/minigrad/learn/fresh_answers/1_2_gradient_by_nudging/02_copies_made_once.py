import numpy as np


def gradient(f, x, h=1e-5):
    grad = np.zeros(x.shape)
    # copy, because x must not change
    up = x.copy()
    down = x.copy()
    for idx in np.ndindex(x.shape):
        up[idx] += h
        down[idx] -= h
        grad[idx] = (f(up) - f(down)) / (2 * h)
    return grad
