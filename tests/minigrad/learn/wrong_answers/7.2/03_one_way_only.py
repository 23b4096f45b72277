import numpy as np


def layer(x, scale, g):
    y = x * scale
    t = np.tanh(y)
    gy = g * (1 - t * t)
    return y + t, gy * scale, (gy * x).sum(axis=0)
