import numpy as np


class Momentum:
    def __init__(self, rate, beta):
        self.rate = rate
        self.beta = beta
        self.v = 0.0

    def step(self, w, g):
        self.v = self.beta * self.v + self.rate * g
        return w - self.rate * self.v


def momentum(w, gradients, rate, beta):
    optimiser = Momentum(rate, beta)
    for g in gradients:
        w = optimiser.step(w, g)
    return np.asarray(w)
