"""Task 9.1: momentum.

Plain gradient descent forgets: in a narrow valley it jumps from wall to wall. With momentum the steps have a velocity v,
0 at first. In each step a part of the old velocity is kept, as much as beta says, and the gradient is added to it, as it is.
Then w moves against this velocity, rate times as far.

Write momentum(w, gradients, rate, beta): `gradients` is a list of arrays of the shape of w, one for each step. It returns w
after the last step. Do not change the w that is given: make new arrays.

Example: w = [0], gradients = [[1], [1]], rate = 0.1, beta = 0.5: v is [1] and then [1.5], w is [-0.1] and then [-0.25]
"""

import numpy as np


def momentum(w: np.ndarray, gradients: list[np.ndarray], rate: float, beta: float) -> np.ndarray:
    """The weights after a step of momentum for each gradient."""
    for g in gradients:
        v = np.zeros_like(w)
        v = beta * v + g
        w = w - rate * v
    return w
