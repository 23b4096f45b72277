"""Task 6.3: cross-entropy, forward and backward."""

import numpy as np


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean of -log softmax(logits)[label], and the gradient of the logits."""
    rows = np.arange(len(labels))
    z = logits - logits.max(axis=1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    loss = -log_p[rows, labels].mean()
    grad = np.exp(log_p)
    grad[rows, labels] -= 1
    return loss, grad
