import numpy as np


def adam(w, gradients, rate, beta1=0.9, beta2=0.999, eps=1e-8):
    # m: where it goes on average, v: how large it is on average
    m, v = np.zeros(w.shape), np.zeros(w.shape)
    for t, grad in enumerate(gradients, start=1):
        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * np.abs(grad)
        m_corrected = m / (1 - beta1**t)
        v_corrected = v / (1 - beta2**t)
        w = w - rate * m_corrected / (np.sqrt(v_corrected) + eps)
    return w
