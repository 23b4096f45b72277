"""Task 6.4: layer normalisation, backward."""

import numpy as np


def layer_norm(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, g: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """y, and the gradients of x, weight and bias, where g is the gradient of y."""
    mean = x.mean(axis=0)
    var = ((x - mean) ** 2).mean(axis=0)
    s = np.sqrt(var + eps)
    n = (x - mean) / s
    y = n * weight + bias
    gn = g * weight
    gx = (gn - gn.mean(axis=0) - n * (gn * n).mean(axis=0)) / s
    return y, gx, (g * n).sum(axis=0), g.sum(axis=0)
