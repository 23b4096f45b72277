import numpy as np


def hvp(W, x, v):
    # 勾配のプログラムに沿って変化を運ぶ
    z = W @ x
    dz = W @ x
    e = np.exp(z)
    de = e * dz
    return W.T @ e, W.T @ de
