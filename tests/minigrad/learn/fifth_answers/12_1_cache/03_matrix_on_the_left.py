"""Task 12.1: one step of a key-value cache."""

import numpy as np


def step(
    x: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer of the new position, and the cache with its key and value."""
    q = Wq @ x
    k = Wk @ x
    v = Wv @ x
    keys = np.append(keys, [k], axis=0)
    values = np.append(values, [v], axis=0)
    s = keys @ q / x.shape[0] ** 0.5
    s = np.exp(s - np.max(s))
    p = s / np.sum(s)
    out = p @ values
    return out, keys, values
