import numpy as np


def normalise_backward(n, s, g):
    m1 = g.mean(axis=-1, keepdims=True)
    m2 = (g * n).mean(axis=-1, keepdims=True)
    return (g - m1 - n * m2) / s


def layer_norm(x, weight, bias, g, eps=1e-5):
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    gx = weight * normalise_backward(n, s, g)
    return n * weight + bias, gx, (g * n).sum(axis=0), g.sum(axis=0)
