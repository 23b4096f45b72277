import numpy as np


def adam(w, gradients, rate, beta1=0.9, beta2=0.999, eps=1e-8):
    m, v, t = 0.0, 0.0, 1
    for g in gradients:
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        m_hat = m / (1 - beta1**t)
        v_hat = v / (1 - beta2**t)
        w = w - rate * m_hat / (v_hat**0.5 + eps)
    return np.asarray(w)
