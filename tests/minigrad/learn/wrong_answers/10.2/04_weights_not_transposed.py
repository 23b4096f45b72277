import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_backward(q, k, v, g):
    c = 1 / np.sqrt(q.shape[-1])
    a = softmax(c * q @ k.T)
    # 値の勾配
    dv = a @ g
    da = g @ v.T
    ds = a * (da - np.einsum("ij,ij->i", da, a)[:, None])
    return c * ds @ k, c * ds.T @ q, dv
