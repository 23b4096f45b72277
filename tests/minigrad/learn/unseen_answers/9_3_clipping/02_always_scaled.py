"""Task 9.3: gradient clipping.

Now and then a gradient is a hundred times as long as usual, and one step undoes the training. So its length is limited.
All gradients of a model together are one long vector, and its length, by Pythagoras, is the norm.

If the norm is larger than the limit, *every* gradient is made smaller by the same factor: the direction stays, and the length
becomes the limit. Otherwise they stay as they are.

Write clip(gradients, limit): `gradients` is a list of arrays. It returns two things: the norm before, and a list of new arrays.

Example: gradients = [[3], [4]], limit = 1: the norm is 5, and the new ones are [0.6] and [0.8]
"""

import numpy as np


def clip(gradients: list[np.ndarray], limit: float) -> tuple[float, list[np.ndarray]]:
    """The norm of all gradients together, and the gradients, scaled so that it is at most the limit."""
    norm = np.sqrt(sum((g**2).sum() for g in gradients))
    return norm, [g * limit / norm for g in gradients]
