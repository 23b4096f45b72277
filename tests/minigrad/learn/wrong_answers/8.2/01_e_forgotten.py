import numpy as np


def hvp(W: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    e = np.exp(W @ x)
    de = (W @ v)
    return W.T @ e, W.T @ de
