"""Task 12.2: the next token, with a temperature."""

import numpy as np


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    """The probability of each token."""
    e = np.exp(logits / temperature)
    return e / np.sum(e)


def sample(logits: np.ndarray, temperature: float, u: float) -> int:
    """The token that u, from 0 to 1, chooses."""
    if temperature == 0:
        return int(np.argmax(logits))
    sums = np.cumsum(probabilities(logits, temperature))
    return int(np.argmax(sums > u))
