"""Task 6.1: the matrix product, backward.

    y = x @ W        x: (..., n, k), W: (k, m), y: (..., n, m)

Each y[i, j] is the sum over l of x[i, l] * W[l, j]. So g[i, j], the gradient of y[i, j], goes to x[i, l] with the factor
W[l, j], and to W[l, j] with the factor x[i, l]. Written with matrices, each gradient is a product of g and the other factor.
What stands on which side, and what is transposed, you find by the sums, or by the shapes.

The dots are a batch: x may have more axes in front. W is used for each member of the batch, so its gradient is a sum over
them. And .T turns *all* axes around: np.swapaxes(x, -1, -2) turns the last two.

Write matmul_backward(x, W, g), which returns the gradients of x and of W.

Example: x = [[1, 2]], W = [[3], [4]], g = [[1]]: the gradient of x is [[3, 4]], of W [[1], [2]]
"""

import numpy as np


def matmul_backward(x: np.ndarray, W: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of x and W in y = x @ W, where g is the gradient of y."""
    k, m = W.shape
    gx = g @ W.T
    gW = x.reshape(k, -1) @ g.reshape(-1, m)
    return gx, gW
