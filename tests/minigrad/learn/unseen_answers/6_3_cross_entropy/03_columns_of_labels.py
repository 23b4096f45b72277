"""Task 6.3: cross-entropy, forward and backward.

A classifier gives each class a number, its logits; softmax makes probabilities p of them. The loss of one row is
-log(p[label]), where label is the number of the right class; the loss of the batch is the mean over its rows.

The logarithm of softmax is simpler than it looks. The logarithm of a quotient is a difference, so there is nothing to divide,
and if the largest logit of the row is subtracted first, the logarithm of 0 is never taken.

Backward, nearly everything cancels: ask how fast that difference moves with the logit of the label, and how fast with each of
the others. And mind the mean.

Write cross_entropy(logits, labels), which returns the loss and the gradient of the logits.
logits: (rows, classes), labels: (rows,) whole numbers; the loss is one number.

Example: logits = [[0, 0]], labels = [1]: the loss is log 2 = 0.6931, the gradient [[0.5, -0.5]]
"""

import numpy as np


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean of -log softmax(logits)[label], and the gradient of the logits."""
    m = logits.max(axis=1, keepdims=True)
    log_p = logits - m - np.log(np.exp(logits - m).sum(axis=1, keepdims=True))
    loss = -np.mean(log_p[:, labels])
    grad = np.exp(log_p)
    grad[:, labels] -= 1
    return loss, grad / len(labels)
