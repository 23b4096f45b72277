import numpy as np


def matmul_backward(x, W, g):
    k, m = W.shape
    flat_x, flat_g = x.reshape(-1, k), g.reshape(-1, m)
    dx = flat_g @ W.reshape(m, k)
    dW = flat_x.T @ flat_g
    return dx.reshape(x.shape), dW
