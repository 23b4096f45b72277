import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v, causal=False):
    n = len(q)
    scores = q @ k.T / np.sqrt(q.shape[-1])
    if causal:
        # 未来を隠す
        future = np.triu(np.ones((n, n)), k=2).astype(bool)
        scores[future] = -np.inf
    weights = softmax(scores)
    return weights @ v, weights
