import numpy as np


def adam(w, gradients, rate, beta1=0.9, beta2=0.999, eps=1e-8):
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    t = 0
    for g in gradients:
        t += 1
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        # bias correction
        m = m / (1 - beta1**t)
        v = v / (1 - beta2**t)
        w = w - rate * m / (np.sqrt(v) + eps)
    return w
