import numpy as np


def scale_and_shift(x, scale, shift, g):
    # 行ごとに足していく
    d_shift = np.zeros_like(shift)
    for r in range(1, len(g)):
        d_shift = d_shift + g[r]
    return scale * g, np.sum(x * g, 0), d_shift
