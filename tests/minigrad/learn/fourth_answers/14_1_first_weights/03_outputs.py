"""Task 14.1: the size of the first weights."""

import numpy as np


def start(normals: list[np.ndarray], keeps: float) -> list[np.ndarray]:
    """The weights of all layers."""
    weights = []
    for i in range(len(normals)):
        n = normals[i].shape[1]
        if i == 0:
            weights.append(normals[i] * np.sqrt(1 / n))
        else:
            weights.append(normals[i] * np.sqrt(1 / (n * keeps)))
    return weights
