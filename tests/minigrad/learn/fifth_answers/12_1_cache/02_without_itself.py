"""Task 12.1: one step of a key-value cache."""

import numpy as np


def step(
    x: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer of the new position, and the cache with its key and value."""
    d = len(x)
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    weights = np.exp(keys @ q / np.sqrt(d))
    weights = weights / weights.sum()
    out = weights @ values
    new_keys = np.vstack([keys, k])
    new_values = np.vstack([values, v])
    return out, new_keys, new_values
