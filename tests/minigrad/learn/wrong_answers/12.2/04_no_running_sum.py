import numpy as np


def probabilities(logits, temperature):
    z = logits / temperature
    z = z - z.max()
    return np.exp(z) / np.exp(z).sum()


def sample(logits, temperature, u):
    if temperature == 0:
        return int(np.argmax(logits))
    p = probabilities(logits, temperature)
    return int(np.argmax(p > u))
