"""Task 6.2: softmax, forward and backward."""

import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    """Probabilities, along the last axis."""
    shifted = x - x.max(axis=-1, keepdims=True)
    e = np.exp(shifted)
    return e / e.sum()


def softmax_backward(p: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The gradient of x, where p = softmax(x) and g is the gradient of p."""
    s = np.sum(g * p, axis=-1, keepdims=True)
    return p * g - p * s
