"""Task 14.3: the weight decay of AdamW."""

from collections.abc import Callable

import numpy as np


def adamw(
    w: np.ndarray,
    gradients: list[np.ndarray],
    direction: Callable[[np.ndarray], np.ndarray],
    rates: list[float],
    decay: float,
) -> np.ndarray:
    """The weights after a step for each gradient."""
    new = np.array(w, dtype=float)
    for i in range(len(gradients)):
        d = direction(gradients[i])
        new = new - rates[i] * d - decay * new
    return new
