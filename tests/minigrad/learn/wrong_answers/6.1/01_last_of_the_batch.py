import numpy as np


def matmul_backward(x: np.ndarray, W: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gx = g @ W.T
    k, m = W.shape
    xs = x.reshape(-1, x.shape[-2], k)
    gs = g.reshape(-1, g.shape[-2], m)
    gW = np.zeros_like(W)
    for xi, gi in zip(xs, gs):
        gW = xi.T @ gi
    return gx, gW
