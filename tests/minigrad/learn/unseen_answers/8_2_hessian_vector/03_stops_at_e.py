"""Task 8.2: the Hessian-vector product.

    f(x) = the sum of exp(W @ x)        W: (m, n), x: (n,)

Its gradient is W.T @ e with e = exp(W @ x). All its second derivatives make a matrix of n rows and n columns, the Hessian H.
For a million parameters H would have a million times a million numbers. But H @ v, how the gradient changes when x moves
along v, costs no more than a gradient: carry the change along (task 4.1), this time through the program of the *gradient*:

    z = W @ x
    e = exp(z)
    W.T @ e

By how much does each of the three change, when x changes by v?

Write hvp(W, x, v), which returns the gradient of f and H @ v, both of shape (n,). Do not build H.

Example: W = [[1, 2]], x = [0, 0], v = [1, 0]: the gradient is [1, 2], H @ v is [1, 2]
"""

import numpy as np


def hvp(W: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of f(x) = sum(exp(W @ x)), and its Hessian times v."""
    e = np.exp(W @ x)
    dz = W @ v
    de = e * dz
    return W.T @ e, de
