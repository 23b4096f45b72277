import numpy as np


def layer_norm(x, weight, bias, g, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    v = ((x - mean) ** 2).mean(axis=-1, keepdims=True) + eps
    n = (x - mean) / np.sqrt(v)
    y = weight * n + bias
    gn = weight * g
    top = gn - gn.mean(axis=-1, keepdims=True) - n * (gn * n).mean(axis=-1, keepdims=True)
    return y, top / v, (g * n).sum(axis=0), g.sum(axis=0)
