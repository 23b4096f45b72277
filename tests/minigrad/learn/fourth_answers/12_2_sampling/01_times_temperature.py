"""Task 12.2: the next token, with a temperature."""

import numpy as np


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    """The probability of each token."""
    z = logits * temperature
    e = np.exp(z - z.max())
    return e / e.sum()


def sample(logits: np.ndarray, temperature: float, u: float) -> int:
    """The token that u, from 0 to 1, chooses."""
    if temperature == 0:
        return int(np.argmax(logits))
    p = probabilities(logits, temperature)
    token = int((np.cumsum(p) <= u).sum())
    if token == len(p):
        token = int(np.flatnonzero(p)[-1])
    return token
