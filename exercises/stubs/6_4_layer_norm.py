"""Task 6.4: layer normalisation, backward.

Each row of x is shifted to mean 0 and scaled to variance 1, then scaled and shifted by numbers that are learned:

    s = sqrt(variance + eps)        (variance: the mean of (x - mean) ** 2 over the row; eps stands inside of the root)
    n = (x - mean) / s
    y = n * weight + bias           x: (rows, d), weight and bias: (d,)

Backward, with g the gradient of y: weight and bias are as in task 5.2, and so is gn, the gradient of n. Every x has a part in
the mean and in the variance of its row, so two things have to be taken out of gn before it is divided by s: what a shift of
the whole row would bring, and what a stretching of the row would bring. Both change nothing (lesson 6), and both are means.

Write layer_norm(x, weight, bias, g, eps), which returns y and the gradients of x, weight and bias.

Example: x = [[1, 2, 3]], weight = [1, 1, 1], bias = [0, 0, 0], eps = 0: y = [[-1.225, 0, 1.225]];
    with g = [[1, 0, 0]] the gradient of x is [[0.204, -0.408, 0.204]]
"""

import numpy as np


def layer_norm(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, g: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """y, and the gradients of x, weight and bias, where g is the gradient of y."""
    raise NotImplementedError
