import numpy as np


def softmax(x):
    m = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - m)
    return e / np.sum(e, axis=-1, keepdims=True)


def softmax_backward(p, g):
    s = np.sum(g, axis=-1, keepdims=True)
    return p * (g - s)
