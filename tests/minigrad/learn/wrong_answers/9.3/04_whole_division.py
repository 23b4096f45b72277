import numpy as np


def clip(gradients, limit):
    norm = np.sqrt(sum([np.sum(np.square(g)) for g in gradients]))
    factor = 1 if norm <= limit else limit // norm
    return norm, [g * factor for g in gradients]
