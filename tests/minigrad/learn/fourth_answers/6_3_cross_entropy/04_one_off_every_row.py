"""Task 6.3: cross-entropy, forward and backward."""

import numpy as np


def cross_entropy(logits, labels):
    n = len(labels)
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = -log_p[range(n), labels].sum() / n
    grad = np.exp(log_p)
    grad[:, labels] -= 1
    return loss, grad / n
