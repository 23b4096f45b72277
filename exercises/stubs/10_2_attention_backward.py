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

Example: q = [[1], [0]], k = [[log 3], [0]], v = [[1], [0]], g = [[4], [0]]: the weights are [[0.75, 0.25], [0.5, 0.5]], and
    the gradients are [[0.824], [0]], [[0.75], [-0.75]] and [[3], [1]]
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
    raise NotImplementedError
