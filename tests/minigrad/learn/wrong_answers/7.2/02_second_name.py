import numpy as np


def layer(x, scale, g):
    y = x.copy()
    y *= scale
    saved = y  # keep the old value for the backward pass
    h = np.tanh(y)
    y += h

    gy = g + g * (1 - np.tanh(saved) ** 2)
    return y, gy * scale, (gy * x).sum(axis=0)
