import numpy as np


def jvp(W, x, v):
    z = W @ x
    return np.tanh(z), (1 - z ** 2) * (W @ v)
