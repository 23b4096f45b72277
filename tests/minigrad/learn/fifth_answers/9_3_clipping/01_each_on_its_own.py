"""Task 9.3: gradient clipping."""

import numpy as np


def clip(gradients: list[np.ndarray], limit: float) -> tuple[float, list[np.ndarray]]:
    """The norm of all gradients together, and the gradients, scaled so that it is at most the limit."""
    total = float(np.sqrt(sum(np.sum(g**2) for g in gradients)))
    clipped = []
    for g in gradients:
        n = np.sqrt(np.sum(g**2))
        if n > limit:
            clipped.append(g * limit / n)
        else:
            clipped.append(g.copy())
    return total, clipped
