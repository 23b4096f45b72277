import numpy as np


def matmul_backward(x, W, g):
    xt = np.swapaxes(x, -1, -2)
    gW = xt @ g
    # Wの勾配
    return g @ W.T, gW
