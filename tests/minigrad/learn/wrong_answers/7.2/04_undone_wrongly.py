import numpy as np


def layer(x, scale, g):
    y = x.copy()
    y *= scale
    h = np.tanh(y)
    y += h
    out = y.copy()

    y -= np.tanh(y)  # 元に戻す
    gy = g + g * (1 - np.tanh(y) ** 2)
    return out, gy * scale, (gy * x).sum(axis=0)
