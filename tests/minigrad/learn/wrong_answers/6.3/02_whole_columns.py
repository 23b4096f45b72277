import numpy as np


def cross_entropy(logits, labels):
    n = logits.shape[0]
    shifted = logits - logits.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    s = e.sum(axis=1, keepdims=True)
    loss = np.mean(np.log(s[:, 0]) - shifted[np.arange(n), labels])
    g = e / s
    g[:, labels] -= 1
    return loss, g / n
