import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    total = np.sum(e, axis=-1, keepdims=True)
    return e / total


def softmax_backward(p, g):
    average = (g * p).mean(axis=-1, keepdims=True)
    return p * (g - average)
