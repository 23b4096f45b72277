"""Task 12.2: the next token, with a temperature."""

import numpy as np


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    """The probability of each token."""
    x = np.asarray(logits, dtype=float) / temperature
    e = np.exp(x - x.max())
    return e / e.sum()


def sample(logits: np.ndarray, temperature: float, u: float) -> int:
    """The token that u, from 0 to 1, chooses."""
    p = probabilities(logits, temperature)
    s = np.cumsum(p)
    return int(np.argmax(s > u))
