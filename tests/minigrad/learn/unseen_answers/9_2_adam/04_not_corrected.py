"""Task 9.2: Adam.

Adam keeps two averages for each weight: m of its gradients, and v of their squares. A weight whose gradients are always small
takes steps as large as the others. In each step an average keeps the part beta of itself, and takes the part 1 - beta of what
is new: m with beta1, v with beta2.

Both begin at 0, and so are too small at first. If all gradients were equal to g, m would be (1 - beta1 ** t) * g after step t
(t = 1, 2, ...): divide this factor out, likewise for v. The step is rate times the corrected m, divided by the root of the
corrected v, to which eps is added (*outside* of the root).

Write adam(w, gradients, rate, beta1, beta2, eps), which returns w after the last step.

Example: w = [0], gradients = [[4]], rate = 0.1: m / (1 - beta1) = 4, v / (1 - beta2) = 16, and w = [-0.1], whatever the
    gradient's size
"""

import numpy as np


def adam(
    w: np.ndarray,
    gradients: list[np.ndarray],
    rate: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> np.ndarray:
    """The weights after a step of Adam for each gradient."""
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for g in gradients:
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        w = w - rate * m / (np.sqrt(v) + eps)
    return w
