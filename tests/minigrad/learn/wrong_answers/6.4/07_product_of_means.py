import numpy as np


def layer_norm(x, weight, bias, g, eps=1e-5):
    def avg(t):
        return np.mean(t, axis=-1, keepdims=True)

    c = x - avg(x)
    s = (avg(c * c) + eps) ** 0.5
    n = c / s
    gn = g * weight
    gx = (gn - avg(gn) - n * avg(gn) * avg(n)) / s
    return n * weight + bias, gx, np.sum(g * n, 0), np.sum(g, 0)
