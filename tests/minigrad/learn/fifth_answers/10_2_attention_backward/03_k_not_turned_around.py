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
    weights = softmax(q @ k.T / np.sqrt(d))

    gweights = g @ v.T
    gv = np.swapaxes(weights, 0, 1) @ g
    inner = np.sum(gweights * weights, axis=1, keepdims=True)
    gscores = weights * (gweights - inner)
    gproduct = gscores / np.sqrt(d)
    gq = gproduct @ k
    gk = q.T @ gproduct
    return gq, gk, gv
