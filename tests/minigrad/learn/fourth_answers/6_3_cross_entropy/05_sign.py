"""Task 6.3: cross-entropy, forward and backward."""

import numpy as np


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean of -log softmax(logits)[label], and the gradient of the logits."""
    z = logits - logits.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(z).sum(axis=1))
    n = logits.shape[0]
    loss = (log_sum - z[np.arange(n), labels]).mean()
    p = np.exp(z - log_sum[:, None])
    right = np.arange(logits.shape[1]) == labels[:, None]
    return loss, (right - p) / n
