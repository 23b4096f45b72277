import numpy as np


def gradient(f, x, h=1e-5):
    out = np.zeros(x.size)
    flat = x.ravel()
    for i in range(x.size):
        e = np.zeros(x.size)
        e[i] = h
        slope = (f((flat + e).reshape(x.shape)) - f((flat - e).reshape(x.shape))) / (2 * h)
        out[i] = round(slope, 1)
    return out.reshape(x.shape)
