import numpy as np


def layer(x, scale, g):
    y = x * scale
    h = np.tanh(y)
    out = y + h
    gy = g + g * (1 - np.tanh(h) ** 2)
    return out, gy * scale, (gy * x).sum(axis=0)
