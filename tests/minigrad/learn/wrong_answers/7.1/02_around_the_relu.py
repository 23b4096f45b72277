import numpy as np


def network(x, W1, W2, y):
    z = x @ W1
    h = np.maximum(z, 0)
    out = x + h @ W2
    error = out - y
    loss = (error**2).sum()

    g_out = 2 * error
    gW2 = h.T @ g_out
    gh = g_out @ W2.T
    gz = gh * (z > 0)
    gW1 = x.T @ gz
    gx = g_out + gh @ W1.T
    return loss, gx, gW1, gW2
