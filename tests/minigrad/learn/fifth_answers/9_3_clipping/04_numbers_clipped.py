"""Task 9.3: gradient clipping."""

import numpy as np


def clip(gradients: list[np.ndarray], limit: float) -> tuple[float, list[np.ndarray]]:
    """The norm of all gradients together, and the gradients, scaled so that it is at most the limit."""
    flat = np.concatenate([np.ravel(g) for g in gradients])
    norm = np.linalg.norm(flat)
    if norm > limit:
        new = [np.clip(g, -limit, limit) for g in gradients]
    else:
        new = [np.array(g) for g in gradients]
    return norm, new
