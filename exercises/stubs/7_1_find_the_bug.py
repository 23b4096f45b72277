"""Task 7.1: find the planted bug.

This file is finished, and wrong. A network with one hidden layer and a way past it (a residual connection):

    h = relu(x @ W1)        relu(z) is z where z > 0, and 0 elsewhere
    out = x + h @ W2
    loss = the sum of (out - y) ** 2

The loss is right. Of the gradients of x, W1 and W2, one is wrong. Find which (nudge, task 1.2, or let the check tell you),
find the line, and fix it: one character is enough. Predict first, then try: x is used in two places.

Shapes: x and y (rows, d), W1 (d, k), W2 (k, d).

Example: x = [[1]], W1 = [[1]], W2 = [[1]], y = [[0]]: h = [[1]], out = [[2]], the loss is 4; the gradient of out is [[4]],
    of x [[8]], as x leads to the loss along two ways
"""

import numpy as np


def network(
    x: np.ndarray, W1: np.ndarray, W2: np.ndarray, y: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """The loss, and the gradients of x, W1 and W2."""
    z = x @ W1
    h = np.maximum(z, 0)
    out = x + h @ W2
    error = out - y
    loss = (error**2).sum()

    g_out = 2 * error
    gx = g_out
    gW2 = h.T @ g_out
    gh = g_out @ W2.T
    gz = gh * (z > 0)
    gW1 = x.T @ gz
    gx = gz @ W1.T
    return loss, gx, gW1, gW2
