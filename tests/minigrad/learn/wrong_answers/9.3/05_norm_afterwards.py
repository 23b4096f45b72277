import numpy as np


def total_norm(gradients):
    return np.sqrt(sum(np.sum(g**2) for g in gradients))


def clip(gradients, limit):
    norm = total_norm(gradients)
    clipped = [g * (limit / norm) if norm > limit else g.copy() for g in gradients]
    return total_norm(clipped), clipped
