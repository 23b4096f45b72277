import numpy as np


def probabilities(logits, temperature):
    scaled = (logits - np.max(logits)) / temperature
    e = np.exp(scaled)
    return e / np.sum(e)


def sample(logits, temperature, u):
    if temperature == 0:
        return int(np.argmax(logits))
    p = np.sort(probabilities(logits, temperature))[::-1]
    running = 0.0
    for i, pi in enumerate(p):
        running += pi
        if u < running:
            return i
    return len(p) - 1
