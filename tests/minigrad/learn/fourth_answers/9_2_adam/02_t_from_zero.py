"""Task 9.2: Adam."""

import numpy as np


def adam(w, gradients, rate, beta1=0.9, beta2=0.999, eps=1e-08):
    m = np.zeros(w.shape)
    v = np.zeros(w.shape)
    for t, g in enumerate(gradients):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        w = w - rate * (m / (1 - beta1 ** t)) / (np.sqrt(v / (1 - beta2 ** t)) + eps)
    return w
