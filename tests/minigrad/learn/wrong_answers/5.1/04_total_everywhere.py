import numpy as np


def unbroadcast(g, shape):
    if g.shape == shape:
        return g
    return np.full(shape, g.sum(), dtype=g.dtype)
