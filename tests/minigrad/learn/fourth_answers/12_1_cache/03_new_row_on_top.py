"""Task 12.1: one step of a key-value cache."""

import numpy as np


def step(x, Wq, Wk, Wv, keys, values):
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    keys = np.vstack([k, keys])
    values = np.vstack([v, values])
    scores = keys @ q / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    weights = e / e.sum()
    return weights @ values, keys, values
