"""Task 1.3: the chain rule, by hand.

A neuron has a weight w and a bias b. It takes x, and its output should be y. How wrong it is, is the loss:

    z = w * x + b
    a = tanh(z)
    loss = (a - y) ** 2

The chain rule: multiply the slopes along the way. Begin at the loss and walk back:

    dloss/da = 2 (a - y)        da/dz = 1 - a ** 2        dz/dw = x        dz/db = 1

Write neuron(w, b, x, y), which returns three numbers: the loss, dloss/dw and dloss/db.

Example: w = 0.5, b = 0, x = 1, y = 0:
    z = 0.5, a = 0.4621, loss = 0.2136; dloss/da = 0.9242, da/dz = 0.7864; dloss/dw = dloss/db = 0.7269
"""

import numpy as np


def neuron(w: float, b: float, x: float, y: float) -> tuple[float, float, float]:
    """The loss, and its derivatives with respect to w and to b."""
    raise NotImplementedError
