import numpy as np


def unbroadcast(g, shape):
    # 増えた軸を足し合わせる
    extra = g.ndim - len(shape)
    for _ in range(extra):
        g = g.sum(axis=-1)
    for axis in range(min(g.ndim, len(shape))):
        if shape[axis] == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g
