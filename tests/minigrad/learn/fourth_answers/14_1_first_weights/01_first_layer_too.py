"""Task 14.1: the size of the first weights."""

import numpy as np


def start(normals: list[np.ndarray], keeps: float) -> list[np.ndarray]:
    """The weights of all layers."""
    return [w / np.sqrt(w.shape[0] * keeps) for w in normals]
