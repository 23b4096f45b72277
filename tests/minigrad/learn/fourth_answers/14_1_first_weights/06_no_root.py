"""Task 14.1: the size of the first weights."""

import numpy as np


def start(normals, keeps):
    weights = []
    for i, normal in enumerate(normals):
        mean_square = keeps if i > 0 else 1
        weights.append(normal / (normal.shape[0] * mean_square))
    return weights
