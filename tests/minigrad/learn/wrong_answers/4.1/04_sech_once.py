import numpy as np


def jvp(W, x, v):
    """d tanh(z) = sech(z)^2 dz"""
    z, dz = W @ x, W @ v
    sech = 1 / np.cosh(z)
    return np.tanh(z), sech * dz
