import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def probabilities(logits, temperature):
    p = softmax(logits) / temperature
    return p / p.sum()


def sample(logits, temperature, u):
    if temperature == 0:
        return int(np.argmax(logits))
    total = 0.0
    p = probabilities(logits, temperature)
    for token in range(len(p)):
        total += p[token]
        if total > u:
            return token
    return len(p) - 1
