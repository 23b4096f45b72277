import numpy as np


def unbroadcast(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    while g.ndim > len(shape):
        g = g.mean(axis=0)
    for axis, length in enumerate(shape):
        if length == 1:
            g = g.mean(axis=axis, keepdims=True)
    return g
