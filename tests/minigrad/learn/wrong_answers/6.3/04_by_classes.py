import numpy as np


def cross_entropy(logits, labels):
    rows, classes = logits.shape
    m = logits.max(axis=1, keepdims=True)
    logsum = m + np.log(np.exp(logits - m).sum(axis=1, keepdims=True))
    logp = logits - logsum
    p = np.exp(logp)
    loss = 0.0
    grad = p.copy()
    for r in range(rows):
        loss -= logp[r, labels[r]]
        grad[r, labels[r]] -= 1
    return loss / rows, grad / classes
