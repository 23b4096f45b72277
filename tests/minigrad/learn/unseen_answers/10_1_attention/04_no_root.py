"""Task 10.1: attention, with a causal mask.

Each position asks a question (a row of q). Each position has a key and a value (a row of k, a row of v). The inner product of a
question and a key, divided by the root of the length d of a row of q, says how well they fit: that is a score. Softmax makes
weights of the scores of each question, and the answer is the weighted sum of the values.

A text is written from left to right: with causal=True, position i may look at the positions j <= i only. Set the scores of all
others to -inf *before* the softmax: exp(-inf) is 0, and the weights of each row still sum to 1.

Write attention(q, k, v, causal), which returns out and weights. q, k: (n, d), v: (n, e); out: (n, e), weights: (n, n).
np.tri(n) has 1 on and below the diagonal; np.where(condition, a, b) chooses.

Example: q = [[0], [0]], k = [[0], [0]], v = [[1], [3]]: the weights are all 0.5, out = [[2], [2]];
    with causal=True the weights are [[1, 0], [0.5, 0.5]], out = [[1], [2]]
"""

import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    """Probabilities, along the last axis (task 6.2)."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The answers and the weights of attention."""
    n, d = q.shape
    scores = q @ k.T / d
    if causal:
        mask = np.tri(n) == 1
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights
