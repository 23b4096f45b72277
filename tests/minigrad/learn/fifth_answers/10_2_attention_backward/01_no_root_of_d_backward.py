"""Task 10.2: attention, backward."""

import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    """Probabilities, along the last axis (task 6.2)."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_backward(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gradients of q, k and v, where g is the gradient of the answers."""
    d = q.shape[1]
    scores = q @ k.T / np.sqrt(d)
    weights = softmax(scores)
    g_weights = g @ v.T
    g_v = weights.T @ g
    g_scores = weights * (g_weights - (weights * g_weights).sum(axis=-1, keepdims=True))
    g_q = g_scores @ k
    g_k = (q.T @ g_scores).T
    return g_q, g_k, g_v
