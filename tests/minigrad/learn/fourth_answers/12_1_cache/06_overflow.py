"""Task 12.1: one step of a key-value cache."""

import numpy as np


def step(
    x: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer of the new position, and the cache with its key and value."""
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    keys = np.vstack([keys, k])
    values = np.vstack([values, v])
    scores = keys @ q / np.sqrt(len(q))
    e = np.exp(scores)
    weights = e / e.sum()
    return weights @ values, keys, values
