"""Task 12.1: one step of a key-value cache."""

import numpy as np


def step(
    x: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer of the new position, and the cache with its key and value."""
    keys = np.concatenate([keys, x[None, :]])
    values = np.concatenate([values, x[None, :]])
    q = x @ Wq
    K = keys @ Wk
    V = values @ Wv
    scores = K @ q / np.sqrt(len(x))
    e = np.exp(scores - scores.max())
    return (e / e.sum()) @ V, keys, values
