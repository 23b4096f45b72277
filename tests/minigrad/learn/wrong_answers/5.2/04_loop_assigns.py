import numpy as np


def scale_and_shift(x, scale, shift, g):
    rows, columns = x.shape
    gx = np.zeros(x.shape)
    gscale = np.zeros(columns)
    gshift = np.zeros(columns)
    for i in range(rows):
        for j in range(columns):
            gx[i, j] = g[i, j] * scale[j]
            gscale[j] = g[i, j] * x[i, j]
            gshift[j] += g[i, j]
    return gx, gscale, gshift
