"""Task 10.3: many heads."""

import numpy as np


def split_heads(x, heads):
    return np.stack(np.split(x, heads, axis=-1))


def merge_heads(x):
    return np.concatenate(list(x), axis=-1)
