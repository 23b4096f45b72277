import numpy as np


def clip(gradients, limit):
    norm = np.sqrt(sum(np.sum(g * g) for g in gradients))
    if norm <= limit:
        return norm, [np.array(g) for g in gradients]
    return norm, [np.clip(g, -limit, limit) for g in gradients]
