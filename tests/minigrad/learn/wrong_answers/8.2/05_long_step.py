import numpy as np


def grad(W, x):
    return W.T @ np.exp(W @ x)


def hvp(W, x, v):
    h = 0.1
    g = grad(W, x)
    return g, (grad(W, x + h * v) - g) / h
