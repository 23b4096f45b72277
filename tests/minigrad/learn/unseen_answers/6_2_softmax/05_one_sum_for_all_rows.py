"""Task 6.2: softmax, forward and backward.

Softmax makes probabilities of numbers, along the last axis:

    p[i] = exp(x[i]) / (exp(x[0]) + exp(x[1]) + ...)

exp(1000) is too large for a float. Subtract the largest x first: that changes no p, as it cancels.

Backward: every x has a part in every p, through the sum below the line, and in its own p also through the exp above it. With g
the gradient of p, the gradient of x[i] is the sum of what comes back along all these ways. It gets short: a single line.

Write softmax(x) and softmax_backward(p, g), for arrays of any shape, along the last axis (`axis=-1, keepdims=True`).
Keep the precision: where x is float32, so is the result.

Example: x = [0, 0]: p = [0.5, 0.5]; with g = [1, 0] the gradient of x is [0.25, -0.25]
"""

import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    """Probabilities, along the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_backward(p: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The gradient of x, where p = softmax(x) and g is the gradient of p."""
    return p * (g - (g * p).sum())
