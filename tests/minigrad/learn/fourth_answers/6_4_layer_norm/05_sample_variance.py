"""Task 6.4: layer normalisation, backward."""

import numpy as np


def layer_norm(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, g: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """y, and the gradients of x, weight and bias, where g is the gradient of y."""
    mu = np.mean(x, axis=1, keepdims=True)
    s = np.sqrt(np.var(x, axis=1, keepdims=True, ddof=1) + eps)
    n = (x - mu) / s
    gweight = np.sum(g * n, axis=0)
    gbias = np.sum(g, axis=0)
    gn = g * weight
    gx = gn - np.mean(gn, axis=1, keepdims=True)
    gx = gx - n * np.mean(gn * n, axis=1, keepdims=True)
    return n * weight + bias, gx / s, gweight, gbias
