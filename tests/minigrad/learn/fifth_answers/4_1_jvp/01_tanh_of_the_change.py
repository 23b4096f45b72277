"""Task 4.1: forward mode, the Jacobian-vector product."""

import numpy as np


def jvp(W: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y = tanh(W @ x), and how y changes when x moves along v."""
    z = W @ x
    dz = W @ v
    y = np.tanh(z)
    dy = np.tanh(dz)
    return y, dy
