"""A solution of 8.2."""

import numpy as np


def hvp(W: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of f(x) = sum(exp(W @ x)), and its Hessian times v."""
    e = np.exp(W @ x)
    return W.T @ e, W.T @ (e * (W @ v))
