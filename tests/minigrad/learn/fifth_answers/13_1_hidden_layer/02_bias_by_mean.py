"""Task 13.1: a hidden layer, forward and backward."""

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
    h = np.tanh(x @ W1 + b1)
    loss, d = cross_entropy(h @ W2 + b2, labels)
    dW2 = h.T @ d
    db2 = np.mean(d, axis=0)
    dz = (d @ W2.T) * (1 - h**2)
    dW1 = x.T @ dz
    db1 = np.mean(dz, axis=0)
    return loss, dW1, db1, dW2, db2
