import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v, causal=False):
    n, d = q.shape
    scores = q @ k.T / np.sqrt(d)
    if causal:
        scores = scores * np.tri(n)  # nothing from the future
    weights = softmax(scores)
    return weights @ v, weights
