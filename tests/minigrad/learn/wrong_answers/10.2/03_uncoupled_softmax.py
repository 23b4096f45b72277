import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_backward(p, g):
    return p * (1 - p) * g


def attention_backward(q, k, v, g):
    d = q.shape[-1]
    weights = softmax(q @ k.T / np.sqrt(d))
    g_weights = g @ v.T
    g_v = weights.T @ g
    g_scores = softmax_backward(weights, g_weights)
    g_q = g_scores @ k / np.sqrt(d)
    g_k = g_scores.T @ q / np.sqrt(d)
    return g_q, g_k, g_v
