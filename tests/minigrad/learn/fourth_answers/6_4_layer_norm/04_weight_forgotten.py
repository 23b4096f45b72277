"""Task 6.4: layer normalisation, backward."""

import numpy as np


def layer_norm(x, weight, bias, g, eps=1e-05):
    c = x - x.mean(axis=1, keepdims=True)
    s = np.sqrt((c**2).mean(axis=1, keepdims=True) + eps)
    n = c / s
    y = n * weight + bias
    gn = g
    gx = (gn - gn.mean(axis=1, keepdims=True) - n * (gn * n).mean(axis=1, keepdims=True)) / s
    return y, gx, (g * n).sum(axis=0), g.sum(axis=0)
