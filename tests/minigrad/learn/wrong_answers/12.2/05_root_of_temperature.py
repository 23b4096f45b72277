import numpy as np


def probabilities(logits, temperature):
    z = (logits - logits.max()) / np.sqrt(temperature)
    e = np.exp(z)
    return e / e.sum()


def sample(logits, temperature, u):
    if temperature == 0:
        return int(np.argmax(logits))
    e = np.exp((logits - logits.max()) / temperature)
    return int(np.argmax(np.cumsum(e / e.sum()) > u))
