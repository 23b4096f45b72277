import numpy as np


def probabilities(logits, temperature):
    e = np.exp(logits - logits.max() / temperature)
    return e / e.sum()


def sample(logits, temperature, u):
    # 温度0は一番大きいもの
    if temperature == 0:
        return int(np.argmax(logits))
    z = (logits - logits.max()) / temperature
    p = np.exp(z) / np.exp(z).sum()
    return int(np.searchsorted(np.cumsum(p), u, side="right"))
