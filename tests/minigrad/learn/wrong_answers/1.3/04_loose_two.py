import numpy as np


def neuron(w, b, x, y):
    z = w * x + b  # 重み付き和
    a = np.tanh(z)  # 活性化
    loss = (a - y) ** 2  # 損失
    dloss_da = 2 * a - y
    da_dz = 1 - a**2
    dz_dw = x
    dz_db = 1
    return loss, dloss_da * da_dz * dz_dw, dloss_da * da_dz * dz_db
