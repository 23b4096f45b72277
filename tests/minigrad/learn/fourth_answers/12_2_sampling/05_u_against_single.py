"""Task 12.2: the next token, with a temperature."""

import numpy as np


def probabilities(logits, temperature):
    z = logits / temperature
    e = np.exp(z - z.max())
    return e / e.sum()


def sample(logits, temperature, u):
    if temperature == 0:
        return int(logits.argmax())
    p = probabilities(logits, temperature)
    for token, chance in enumerate(p):
        if chance > u:
            return token
    return len(p) - 1
