import numpy as np


def adam(w, gradients, rate, beta1=0.9, beta2=0.999, eps=1e-8):
    m = np.zeros(w.shape)
    v = np.zeros(w.shape)
    for i in range(len(gradients)):
        g = gradients[i]
        t = i + 1
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        # バイアス補正
        mc = m / (1 - beta1**t)
        vc = v / (1 - beta2**t)
        w = w - rate * mc / (vc + eps)
    return w
