"""A solution of 12.2."""

import numpy as np


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    """The probability of each token."""
    x = logits / temperature
    e = np.exp(x - x.max())
    return e / e.sum()


def sample(logits: np.ndarray, temperature: float, u: float) -> int:
    """The token that u, from 0 to 1, chooses."""
    if temperature == 0:
        return int(np.argmax(logits))
    sums = np.cumsum(probabilities(logits, temperature))
    return min(int(np.searchsorted(sums, u, side="right")), len(logits) - 1)  # rounding may leave the last sum below u
