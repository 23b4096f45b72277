"""Task 10.1: attention, with a causal mask."""

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v, causal=False):
    n, d = q.shape
    scores = q @ k.T / np.sqrt(d)
    if causal:
        mask = (1 - np.tri(n)) * -np.inf
        scores = scores + mask
    weights = softmax(scores)
    return weights @ v, weights
