import numpy as np


def momentum(w, gradients, rate, beta):
    for g in gradients:
        v = np.zeros(w.shape)
        v = beta * v + g
        w = w - rate * v
    return w
