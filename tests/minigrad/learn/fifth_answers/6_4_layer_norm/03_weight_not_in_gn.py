"""Task 6.4: layer normalisation, backward."""

import numpy as np


def layer_norm(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, g: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """y, and the gradients of x, weight and bias, where g is the gradient of y."""
    s = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) / s
    y = n * weight + bias
    shift = g.mean(axis=-1, keepdims=True)
    stretch = (g * n).mean(axis=-1, keepdims=True)
    gx = (g - shift - n * stretch) / s
    return y, gx, np.sum(g * n, axis=0), np.sum(g, axis=0)
