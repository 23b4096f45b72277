import numpy as np


def matmul_backward(x, W, g):
    k, m = W.shape
    dx = g @ W.T
    # all batches below each other, then it is a plain product (k, rows) @ (rows, m)
    dW = x.reshape(k, -1) @ g.reshape(-1, m)
    return dx, dW
