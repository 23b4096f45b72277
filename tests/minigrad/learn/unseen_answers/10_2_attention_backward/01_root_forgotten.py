"""Task 10.2: attention, backward.

    scores = q @ k.T / sqrt(d)
    weights = softmax(scores)
    out = weights @ v

You have all the parts: the matrix product (task 6.1) twice, softmax (task 6.2), and a constant factor. g is the gradient of
out. Walk back, one line at a time:

    the gradients of weights and v, from out = weights @ v
    the gradient of scores, from weights = softmax(scores)
    the gradients of q and k, from scores = q @ k.T / sqrt(d)

Mind k: it stands there transposed. Find the gradient of k.T first, and turn it around.

Write attention_backward(q, k, v, g), which returns the gradients of q, k and v. q, k: (n, d), v: (n, e), g: (n, e).

Example: q = [[0]], k = [[0]], v = [[1]], g = [[2]]: there is one position, its weight is 1 whatever q and k are:
    the gradients are [[0]], [[0]] and [[2]]
"""

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
    weights = softmax(q @ k.T / np.sqrt(d))
    g_weights = g @ v.T
    g_v = weights.T @ g
    g_scores = weights * (g_weights - (g_weights * weights).sum(axis=-1, keepdims=True))
    g_q = g_scores @ k
    g_k = g_scores.T @ q
    return g_q, g_k, g_v
