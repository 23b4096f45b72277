import numpy as np


def adam(w, gradients, rate, beta1=0.9, beta2=0.999, eps=1e-8):
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for t, g in enumerate(gradients, 1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * np.square(g)
        m_hat = m / (1 - beta1) ** t
        v_hat = v / (1 - beta2**t)
        w = w - rate * m_hat / (np.sqrt(v_hat) + eps)
    return w
