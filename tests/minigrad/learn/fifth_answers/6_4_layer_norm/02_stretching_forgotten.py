"""Task 6.4: layer normalisation, backward."""

import numpy as np


def layer_norm(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, g: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """y, and the gradients of x, weight and bias, where g is the gradient of y."""
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.mean((x - mu) ** 2, axis=-1, keepdims=True)
    s = np.sqrt(var + eps)
    n = (x - mu) / s
    y = weight * n + bias
    dweight = np.sum(g * n, axis=0)
    dbias = np.sum(g, axis=0)
    dn = g * weight
    dx = (dn - dn.mean(axis=-1, keepdims=True)) / s
    return y, dx, dweight, dbias
