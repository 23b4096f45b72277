import numpy as np


def scale_and_shift(x, scale, shift, g):
    g_sum = g.sum(axis=0)
    d_scale = g_sum * x.sum(axis=0)
    return g * scale, d_scale, g_sum
