"""Task 12.1: one step of a key-value cache."""

import numpy as np


def step(
    x: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer of the new position, and the cache with its key and value."""
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    keys = np.concatenate([k[None, :], keys])
    values = np.concatenate([v[None, :], values])
    scores = keys @ q / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    weights = e / e.sum()
    return weights @ values, keys, values
