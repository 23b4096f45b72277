import numpy as np


def momentum(w, gradients, rate, beta):
    v = 0 * w
    for g in gradients:
        w = w - rate * v
        v = beta * v + g
    return w
