"""Task 8.2: the Hessian-vector product."""

import numpy as np


def hvp(W: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of f(x) = sum(exp(W @ x)), and its Hessian times v."""
    z = W @ x
    dz = W @ v
    e = np.exp(z)
    de = np.exp(dz)
    return W.T @ e, W.T @ de
