import numpy as np


def vjp(W, x, g):
    y = np.tanh(W.dot(x))
    gz = g * (1 - y**2)
    gW = np.outer(x, gz)
    gx = W.T.dot(gz)
    return y, gW, gx
