import numpy as np


def hvp(W, x, v):
    z = W @ x
    dz = W @ v
    e = np.exp(z)
    de = np.exp(dz)
    grad = W.T @ e
    Hv = W.T @ de
    return grad, Hv
