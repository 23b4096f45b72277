import numpy as np


def layer_norm(x, weight, bias, g, eps=1e-5):
    s = np.sqrt(np.var(x, axis=1, keepdims=True) + eps)
    n = (x - np.mean(x, axis=1, keepdims=True)) / s
    gn = g * weight
    gweight = np.einsum("ij,ij->j", gn, n)
    a = gn.mean(axis=1)[:, None]
    b = (gn * n).mean(axis=1)[:, None]
    return n * weight + bias, (gn - a - b * n) / s, gweight, g.sum(axis=0)
