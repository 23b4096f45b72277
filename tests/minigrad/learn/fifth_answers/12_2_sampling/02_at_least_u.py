"""Task 12.2: the next token, with a temperature."""

import numpy as np


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    """The probability of each token."""
    z = logits / temperature
    z = z - np.max(z)
    return np.exp(z) / np.exp(z).sum()


def sample(logits: np.ndarray, temperature: float, u: float) -> int:
    """The token that u, from 0 to 1, chooses."""
    if temperature == 0:
        return int(np.argmax(logits))
    running = np.cumsum(probabilities(logits, temperature))
    return int(np.searchsorted(running, u))
