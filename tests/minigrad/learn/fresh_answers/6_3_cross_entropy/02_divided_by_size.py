"""Task 6.3: cross-entropy, forward and backward.

A classifier gives each class a number, its logits; softmax makes probabilities p of them. The loss of one row is
-log(p[label]), where label is the number of the right class; the loss of the batch is the mean over its rows.

The logarithm of softmax is simpler than it looks, and never takes the logarithm of 0 (m is the largest x of the row):

    log p[i] = x[i] - m - log(exp(x[0] - m) + exp(x[1] - m) + ...)

And backward, nearly everything cancels: the gradient of the logits is

    (p - 1 at the place of the label, p elsewhere) / (number of rows)

Write cross_entropy(logits, labels), which returns the loss and the gradient of the logits.
logits: (rows, classes), labels: (rows,) whole numbers; the loss is one number.

Example: logits = [[0, 0]], labels = [1]: the loss is log 2 = 0.6931, the gradient [[0.5, -0.5]]
"""

import numpy as np


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean of -log softmax(logits)[label], and the gradient of the logits."""
    rows, classes = logits.shape
    m = logits.max(axis=-1, keepdims=True)
    log_p = logits - m - np.log(np.exp(logits - m).sum(axis=-1, keepdims=True))
    loss = -log_p[np.arange(rows), labels].mean()

    one_hot = np.eye(classes)[labels]
    gradient = (np.exp(log_p) - one_hot) / logits.size
    return loss, gradient
