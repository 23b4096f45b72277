"""Task 4.2: reverse mode, the vector-Jacobian product.

The same y = tanh(W @ x), but asked from its end. g says how fast a loss changes with each y[i]. How fast does the loss change
with each x[j] and each W[i, j]? Walk back through the program, and hand on the gradient of each value:

    g         the gradient of y,    (m,)
    gz        the gradient of z = W @ x,    (m,)
    gx        the gradient of x,    (n,)
    gW        the gradient of W,    (m, n)

z[i] is the sum of W[i, j] * x[j] over j. Which z does x[j] move, and how fast? Which does W[i, j] move?
One such walk gives the gradient with respect to *every* input. That is why training walks backward.

Write vjp(W, x, g), which returns y, gW and gx. Do not build the Jacobian (np.diag of anything is the beginning of one).

Example: W = [[1, 2]], x = [1, 0], g = [3]: y = [0.762], gW = [[1.26, 0]], gx = [1.26, 2.52]
"""

import numpy as np


def vjp(W: np.ndarray, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y = tanh(W @ x), and the gradients of W and x where g is the gradient of y."""
    raise NotImplementedError
