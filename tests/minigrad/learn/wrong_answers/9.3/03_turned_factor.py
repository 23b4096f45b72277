import numpy as np


def clip(gradients, limit):
    total = 0.0
    for g in gradients:
        for value in g.ravel():
            total += value * value
    norm = total**0.5
    if norm > limit:
        scale = norm / limit
    else:
        scale = 1.0
    return norm, [scale * g for g in gradients]
