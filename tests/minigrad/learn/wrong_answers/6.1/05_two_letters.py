import numpy as np


def matmul_backward(x, W, g):
    gx = np.einsum("...nm,km->...nk", g, W)
    k, m = W.shape
    gW = np.einsum("nk,om->km", x.reshape(-1, k), g.reshape(-1, m))
    return gx, gW
