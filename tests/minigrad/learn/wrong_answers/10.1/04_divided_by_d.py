import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v, causal=False):
    n, d = q.shape
    scores = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            scores[i, j] = np.dot(q[i], k[j]) / d
            if causal and j > i:
                scores[i, j] = -np.inf
    weights = softmax(scores)
    return weights @ v, weights
