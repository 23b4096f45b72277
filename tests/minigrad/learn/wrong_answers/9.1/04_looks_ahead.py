import numpy as np


def momentum(w, gradients, rate, beta):
    v = np.zeros_like(w)
    for g in gradients:
        v = beta * v + g
        w = w - rate * (g + beta * v)
    return w
