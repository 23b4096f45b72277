import numpy as np


def split_heads(x, heads):
    batch, n, d = x.shape
    x = x.reshape(batch, n, d // heads, heads)
    return x.transpose(0, 3, 1, 2)


def merge_heads(x):
    # 並べ替えてから、つなげる
    batch, heads, n, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, n, heads * size)
