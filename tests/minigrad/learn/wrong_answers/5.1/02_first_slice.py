import numpy as np


def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g[0]
    for i, n in enumerate(shape):
        if n == 1 and g.shape[i] != 1:
            g = g.take([0], axis=i)
    return g
