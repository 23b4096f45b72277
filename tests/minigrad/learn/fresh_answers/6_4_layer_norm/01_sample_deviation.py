import numpy as np


def layer_norm(x, weight, bias, g, eps=1e-5):
    mu = x.mean(axis=1, keepdims=True)
    var = x.var(axis=1, ddof=1, keepdims=True)
    s = np.sqrt(var + eps)
    n = (x - mu) / s
    y = n * weight + bias

    g_bias = g.sum(axis=0)
    g_weight = (g * n).sum(axis=0)
    gn = g * weight
    g_x = (gn - gn.mean(axis=1, keepdims=True) - n * (gn * n).mean(axis=1, keepdims=True)) / s
    return y, g_x, g_weight, g_bias
