"""Task 6.2: softmax, forward and backward.

Softmax makes probabilities of numbers, along the last axis:

    p[i] = exp(x[i]) / (exp(x[0]) + exp(x[1]) + ...)

exp(1000) is too large for a float. Subtract the largest x first: that changes no p, as it cancels.

Backward: every x has a part in every p, through the sum below the line, and in its own p also through the exp above it. With g
the gradient of p, the gradient of x[i] is the sum of what comes back along all these ways. It gets short: a single line.

Write softmax(x) and softmax_backward(p, g), for arrays of any shape, along the last axis (`axis=-1, keepdims=True`).
Keep the precision: where x is float32, so is the result.

Example: x = [0, log 3]: p = [0.25, 0.75]; with g = [1, 0] the gradient of x is [0.1875, -0.1875]
"""

import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    """Probabilities, along the last axis."""
    raise NotImplementedError


def softmax_backward(p: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The gradient of x, where p = softmax(x) and g is the gradient of p."""
    raise NotImplementedError
