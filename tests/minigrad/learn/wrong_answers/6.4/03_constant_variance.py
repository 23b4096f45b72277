import numpy as np


def layer_norm(x, weight, bias, g, eps=1e-5):
    # 平均と分散
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    inv = 1 / np.sqrt(var + eps)
    n = (x - mean) * inv
    gn = g * weight
    gx = inv * (gn - gn.mean(axis=-1, keepdims=True))
    return n * weight + bias, gx, (g * n).sum(axis=0), g.sum(axis=0)
