import numpy as np


def layer_norm(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, g: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    s = np.sqrt(variance) + eps
    n = (x - mean) / s
    y = n * weight + bias
    gn = g * weight
    gx = (gn - gn.mean(axis=-1, keepdims=True) - n * (gn * n).mean(axis=-1, keepdims=True)) / s
    return y, gx, (g * n).sum(axis=0), g.sum(axis=0)
