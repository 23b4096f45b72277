"""A solution of 12.1."""

import numpy as np


def step(
    x: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer of the new position, and the cache with its key and value."""
    keys = np.concatenate([keys, (x @ Wk)[None]])
    values = np.concatenate([values, (x @ Wv)[None]])
    scores = keys @ (x @ Wq) / np.sqrt(len(x))
    e = np.exp(scores - scores.max())
    return e / e.sum() @ values, keys, values
