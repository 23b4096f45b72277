import numpy as np


def gradient(f, x, h=1e-5):
    g = np.empty_like(x)
    it = np.nditer(x, flags=["multi_index"])
    for value in it:
        i = it.multi_index
        step = h * float(value)
        p = x.copy()
        p[i] += step
        m = x.copy()
        m[i] -= step
        g[i] = (f(p) - f(m)) / (2 * h)
    return g
