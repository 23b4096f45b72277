"""Task 13.1: a hidden layer, forward and backward."""

import numpy as np


def cross_entropy(logits, labels):
    z = logits - logits.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    right = np.arange(logits.shape[1]) == labels[:, None]
    return -log_p[right].mean(), (np.exp(log_p) - right) / len(labels)


def network(x, labels, W1, b1, W2, b2):
    h = np.tanh(x @ W1 + b1)
    logits = h @ W2 + b2
    loss, g = cross_entropy(logits, labels)
    gW2 = h.T @ g
    gb2 = g.sum(axis=0)
    gz = g @ W2.T * (1 - np.tanh(h) ** 2)
    gW1 = x.T @ gz
    gb1 = gz.sum(axis=0)
    return loss, gW1, gb1, gW2, gb2
