import numpy as np


def split_heads(x, heads):
    b, n, d = x.shape
    return np.einsum("bnhp->bhnp", x.reshape(b, n, heads, d // heads))


def merge_heads(x):
    b, h, n, p = x.shape
    return np.swapaxes(x, -1, -2).reshape(b, n, h * p)
