import numpy as np


def layer(x, scale, g):
    y = x * scale
    h = np.tanh(y)
    y += h

    # y is not the old y any more, h still is what it was
    gy = g + g * (1 - np.tanh(h) ** 2)
    return y, gy * scale, (gy * x).sum(axis=0)
