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
    z = x @ W1 + b1
    h = np.tanh(z)
    logits = h @ W2 + b2
    loss, g_logits = cross_entropy(logits, labels)
    g_W2 = h.T @ g_logits
    g_b2 = g_logits.sum(axis=0)
    g_h = g_logits @ W2.T
    g_z = g_h * (1 - np.tanh(h) ** 2)
    g_W1 = x.T @ g_z
    g_b1 = g_z.sum(axis=0)
    return loss, g_W1, g_b1, g_W2, g_b2
