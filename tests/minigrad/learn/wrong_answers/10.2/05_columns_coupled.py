import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_backward(q, k, v, g):
    d = q.shape[-1]
    p = softmax(q @ k.T / d**0.5)
    gp = g @ v.T
    total = (gp * p).sum(axis=0, keepdims=True)
    gs = p * (gp - total)
    gq = gs @ k / d**0.5
    gk = (q.T @ gs).T / d**0.5
    return gq, gk, p.T @ g
