"""Task 6.4: layer normalisation, backward.

Each row of x is shifted to mean 0 and scaled to variance 1, then scaled and shifted by numbers that are learned:

    s = sqrt(variance + eps)        (variance: the mean of (x - mean) ** 2 over the row; eps stands inside of the root)
    n = (x - mean) / s
    y = n * weight + bias           x: (rows, d), weight and bias: (d,)

Backward, with g the gradient of y: weight and bias are as in task 5.2. With gn = g * weight, the gradient of n,

    gradient of x = (gn - mean(gn) - n * mean(gn * n)) / s        the means are over the row

The two means are there because every x has a part in the mean and in the variance of its row.

Write layer_norm(x, weight, bias, g, eps), which returns y and the gradients of x, weight and bias.

Example: x = [[1, 3]], weight = [1, 1], bias = [0, 0], eps = 0: y = [[-1, 1]]; with g = [[1, 0]] the gradient of x is [[0, 0]]
"""

import numpy as np


def row_mean(a):
    return a.mean(axis=-1, keepdims=True)


def layer_norm(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray, g: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """y, and the gradients of x, weight and bias, where g is the gradient of y."""
    centered = x - row_mean(x)
    s = np.sqrt(row_mean(centered**2) + eps)
    n = centered / s
    y = n * weight + bias

    # task 5.2
    gweight = (g * x).sum(axis=0)
    gbias = g.sum(axis=0)

    gn = g * weight
    gx = (gn - row_mean(gn) - n * row_mean(gn * n)) / s
    return y, gx, gweight, gbias
