"""Task 12.1: one step of a key-value cache."""

import numpy as np


def step(
    x: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer of the new position, and the cache with its key and value."""
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    scores = keys @ q / np.sqrt(q.shape[0])
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    out = weights @ values
    return out, np.vstack([keys, k]), np.vstack([values, v])
