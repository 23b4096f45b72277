import numpy as np


def split_heads(x, heads):
    size = x.shape[-1] // heads
    pieces = []
    for i in range(heads):
        start = i
        pieces.append(x[:, :, start : start + size])
    return np.stack(pieces, axis=1)


def merge_heads(x):
    return np.concatenate([x[:, i] for i in range(x.shape[1])], axis=-1)
