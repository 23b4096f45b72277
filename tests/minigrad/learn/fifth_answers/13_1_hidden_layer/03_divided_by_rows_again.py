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
    rows = x.shape[0]
    h = np.tanh(x @ W1 + b1)
    loss, gl = cross_entropy(h @ W2 + b2, labels)
    gl = gl / rows
    gW2 = h.T @ gl
    gb2 = gl.sum(axis=0)
    gz = (1 - h * h) * (gl @ W2.T)
    gW1 = x.T @ gz
    gb1 = gz.sum(axis=0)
    return loss, gW1, gb1, gW2, gb2
