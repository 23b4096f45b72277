"""Task 4.1: forward mode, the Jacobian-vector product.

y = tanh(W @ x) takes n numbers to m numbers. All its slopes make a matrix J of m rows and n columns, the Jacobian:
J[i, j] says how fast y[i] changes with x[j]. When x moves along a direction v, y moves along J @ v.

To find J @ v, walk along with the program and carry the change of each value: how does z = W @ x change when x changes by v,
and how does y = tanh(z) change when z changes by that? (Task 1.3 has the slope of tanh.)

Write jvp(W, x, v), which returns y and its change J @ v. W: (m, n), x and v: (n,); both results: (m,).
Do not build J by multiplying matrices: W @ v is m * n multiplications, and a few times that must be enough.

Example: W = [[1, 2]], x = [1, 0], v = [1, 1]: y = [0.762], and y changes by [1.26]
"""

import numpy as np


def jvp(W: np.ndarray, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y = tanh(W @ x), and how y changes when x moves along v."""
    raise NotImplementedError
