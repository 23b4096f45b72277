import numpy as np


def scale_and_shift(x, scale, shift, g):
    x_grad = g * scale
    scale_grad = np.sum(g * x, axis=0)
    shift_grad = np.sum(g * shift, axis=0)
    return x_grad, scale_grad, shift_grad
