import numpy as np


def scale_and_shift(x, scale, shift, g):
    dx = g * x
    dscale = np.einsum("rc,rc->c", g, x)
    dshift = np.einsum("rc->c", g)
    return dx, dscale, dshift
