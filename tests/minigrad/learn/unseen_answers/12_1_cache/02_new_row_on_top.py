"""Task 12.1: one step of a key-value cache.

A GPT writes one token at a time. For the new position it needs the keys and values of all earlier positions, which do not
change any more: so they are kept, in a cache, and each step computes the new row only.

    q = x @ Wq,  k = x @ Wk,  v = x @ Wv        x: (d,), the new position; Wq, Wk, Wv: (d, d)
    keys = the old keys with k below them, values likewise        (n, d) becomes (n + 1, d)
    out = the answer of attention (task 10.1) to the one question q

Write step(x, Wq, Wk, Wv, keys, values), which returns out (d,), the new keys and the new values (n + 1, d).
At the beginning keys and values have the shape (0, d). No mask is needed: everything that is there lies in the past.
The work is 3 d^2 for the new row and 2 n d for the attention; what is in the cache is not computed again.

Example: d = 1, x = [2], all three matrices [[1]], keys = values = [[0]]: keys and values become [[0], [2]],
    the scores are [0, 4], the weights [0.018, 0.982], and out = [1.964]
"""

import numpy as np


def step(
    x: np.ndarray, Wq: np.ndarray, Wk: np.ndarray, Wv: np.ndarray, keys: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer of the new position, and the cache with its key and value."""
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    keys = np.vstack([k, keys])
    values = np.vstack([v, values])
    scores = keys @ q / np.sqrt(x.shape[0])
    e = np.exp(scores - np.max(scores))
    weights = e / np.sum(e)
    return weights @ values, keys, values
