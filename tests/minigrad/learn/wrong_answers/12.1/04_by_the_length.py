import numpy as np


def step(x, Wq, Wk, Wv, keys, values):
    keys = np.vstack([keys, x @ Wk])
    values = np.vstack([values, x @ Wv])
    s = keys @ (x @ Wq) / np.sqrt(len(keys))
    e = np.exp(s - s.max())
    return (e / e.sum()) @ values, keys, values
