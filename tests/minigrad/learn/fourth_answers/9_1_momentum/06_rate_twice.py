"""Task 9.1: momentum."""

import numpy as np


def momentum(w, gradients, rate, beta):
    v = np.zeros(w.shape)
    for g in gradients:
        v = beta * v + rate * g
        w = w - rate * v
    return w
