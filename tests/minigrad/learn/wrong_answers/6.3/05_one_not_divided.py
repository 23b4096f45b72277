import numpy as np


def cross_entropy(logits, labels):
    n = len(labels)
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    picked = logp[np.arange(n), labels]
    grad = np.exp(logp) / n
    grad[np.arange(n), labels] -= 1
    return -np.mean(picked), grad
