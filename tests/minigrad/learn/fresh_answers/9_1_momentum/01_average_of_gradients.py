import numpy as np


def momentum(w, gradients, rate, beta):
    v = 0
    for g in gradients:
        v = beta * v + (1 - beta) * g
        w = w - rate * v
    return w
