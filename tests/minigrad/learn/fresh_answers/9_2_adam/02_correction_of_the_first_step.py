"""Task 9.2: Adam.

Adam keeps two averages for each weight: m of its gradients, and v of their squares. A weight whose gradients are always small
takes steps as large as the others. Both begin at 0, and are too small at first by a factor that is known; in step t
(t = 1, 2, ...) it is divided out:

    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g ** 2
    w = w - rate * (m / (1 - beta1 ** t)) / (sqrt(v / (1 - beta2 ** t)) + eps)

Here eps stands *outside* of the root. Write adam(w, gradients, rate, beta1, beta2, eps), which returns w after the last step.

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
        m_hat = m / (1 - beta1)
        v_hat = v / (1 - beta2)
        w = w - rate * m_hat / (np.sqrt(v_hat) + eps)
    return w
