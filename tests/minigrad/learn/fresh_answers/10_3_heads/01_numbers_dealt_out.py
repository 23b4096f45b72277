import numpy as np


def split_heads(x, heads):
    b, n, d = x.shape
    x = x.reshape(b, n, d // heads, heads)
    return x.transpose(0, 3, 1, 2)


def merge_heads(x):
    b, h, n, dh = x.shape
    return x.transpose(0, 2, 3, 1).reshape(b, n, h * dh)
