import numpy as np


def softmax(s):
    e = np.exp(s - s.max())
    return e / e.sum()


def step(x, Wq, Wk, Wv, keys, values):
    k = (x @ Wk)[None, :]
    v = (x @ Wv)[None, :]
    keys = np.concatenate([k, keys], axis=0)
    values = np.concatenate([v, values], axis=0)
    weights = softmax(keys @ (x @ Wq) / np.sqrt(x.shape[0]))
    return weights @ values, keys, values
