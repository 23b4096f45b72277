"""Task 13.1: a hidden layer, forward and backward.

Your first network, for a batch of points:

    h = tanh(x @ W1 + b1)        x: (rows, features), W1: (features, hidden), b1: (hidden,)
    logits = h @ W2 + b2         W2: (hidden, classes), b2: (classes,)
    loss = the cross-entropy of logits and labels, the mean over the rows

You have written all of its parts: the matrix product (6.1), what is broadcast to all rows (5.2), tanh (4.2) and the
cross-entropy (6.3), which is given here. Write the forward pass, and walk back through it from the end, one line at a time.

Write network(x, labels, W1, b1, W2, b2), which returns the loss and the gradients of W1, b1, W2 and b2.
Each gradient has the shape of what it belongs to.

Example: x = [[0]], labels = [1], W1 = [[1]], b1 = [0], W2 = [[2, 0]], b2 = [0, 0]: the loss is log 2 = 0.6931, the gradient of
    b2 is [0.5, -0.5], of W2 [[0, 0]], of b1 [1], of W1 [[0]]
"""

import numpy as np


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean of -log softmax(logits)[label], and the gradient of the logits (task 6.3)."""
    z = logits - logits.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    right = np.arange(logits.shape[1]) == labels[:, None]
    return -log_p[right].mean(), (np.exp(log_p) - right) / len(labels)


def network(
    x: np.ndarray, labels: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The loss, and the gradients of W1, b1, W2 and b2."""
    raise NotImplementedError
