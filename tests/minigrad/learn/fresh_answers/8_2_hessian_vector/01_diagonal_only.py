import numpy as np


def hvp(W, x, v):
    e = np.exp(W @ x)
    grad = W.T @ e
    # d/dx_j again: one more factor W[i, j]
    second = (W**2).T @ e
    return grad, second * v
