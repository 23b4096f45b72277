import numpy as np


def clip(gradients, limit):
    total = 0.0
    for g in gradients:
        total += np.sum(g**2)
    norm = np.sqrt(total)
    clipped = [np.clip(g, -limit, limit) for g in gradients]
    return norm, clipped
