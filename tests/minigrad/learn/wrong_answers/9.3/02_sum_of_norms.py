import numpy as np


def clip(gradients, limit):
    norm = sum(np.sqrt(np.sum(g**2)) for g in gradients)
    if norm > limit:
        gradients = [g * (limit / norm) for g in gradients]
    else:
        gradients = [g + 0 for g in gradients]
    return norm, gradients
