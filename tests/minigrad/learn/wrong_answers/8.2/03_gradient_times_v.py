import numpy as np


def hvp(W, x, v):
    e = np.exp(W @ x)
    g = e @ W
    return g, g * v
