import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_backward(q, k, v, g):
    s = np.sqrt(q.shape[-1])
    w = softmax(q @ k.T / s)
    gw = g @ v.T
    g_scaled = w * (gw - (gw * w).sum(axis=-1, keepdims=True))
    g_scores = g_scaled / s
    gq = g_scores @ k / s
    gk = g_scores.T @ q / s
    gv = w.T @ g
    return gq, gk, gv
