import numpy as np


def step(x, Wq, Wk, Wv, keys, values):
    q = Wq @ x
    k = Wk @ x
    v = Wv @ x
    keys = np.vstack([keys, k])
    values = np.vstack([values, v])
    s = keys @ q / np.sqrt(len(x))
    w = np.exp(s - s.max())
    w /= w.sum()
    return w @ values, keys, values
