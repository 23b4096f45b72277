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
    loss, g_logits = cross_entropy(h @ W2 + b2, labels)
    g_b2 = np.sum(g_logits, axis=0)
    g_W2 = np.einsum("rh,rc->hc", h, g_logits)
    g_h = g_logits @ W2.T
    g_z = g_h * (1 - h * h)
    g_b1 = np.sum(g_z, axis=0)
    g_W1 = np.einsum("rf,rh->fh", x, g_h)
    return loss, g_W1, g_b1, g_W2, g_b2
