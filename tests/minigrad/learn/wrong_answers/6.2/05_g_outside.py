import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_backward(p, g):
    inner = np.einsum("...i,...i->...", p, g)[..., None]
    return g * (p - inner)
