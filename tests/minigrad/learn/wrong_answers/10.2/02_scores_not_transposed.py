import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_backward(q, k, v, g):
    root = np.sqrt(q.shape[1])
    w = softmax(q @ k.T / root)
    gw = g @ v.T
    gs = w * (gw - np.sum(gw * w, axis=1, keepdims=True)) / root
    return gs @ k, gs @ q, w.T @ g
