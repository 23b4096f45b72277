import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_backward(p, g):
    n = p.shape[-1]
    eye = np.eye(n, dtype=p.dtype)
    J = p[..., :, None] * eye + p[..., :, None] * p[..., None, :]
    return (J @ g[..., None])[..., 0]
