"""Task 14.3: the weight decay of AdamW.

Weight decay pulls every weight towards 0, a little in each step. If the pull is added to the gradient, Adam divides it by the
usual size of that gradient, and a weight with large gradients hardly feels it (lesson 14). AdamW keeps the two apart:

- Adam sees the gradient, and nothing else. What it makes of it, before that is multiplied by the rate, is the direction: the
  corrected mean of the gradients, divided by the root of the corrected mean of their squares.
- The pull is as large as the weight itself times `decay`, and is multiplied by the rate of the step, as the direction is.

Both are computed with what was there before the step, and w moves against both of them at once.

Write adamw(w, gradients, direction, rates, decay), which returns w after the last step. `gradients` is a list of arrays of the
shape of w, `rates` a list with the rate of each step. direction(g) is given: call it once for each gradient, in order, as Adam
remembers what it has seen. Do not change the w that is given: make new arrays.

Example: w = [1], gradients = [[4], [4]], direction = the sign of g, rates = [0.1, 0.2], decay = 0.5:
    w is [0.85] after the first step, and [0.565] after the second
"""

from collections.abc import Callable

import numpy as np


def adamw(
    w: np.ndarray,
    gradients: list[np.ndarray],
    direction: Callable[[np.ndarray], np.ndarray],
    rates: list[float],
    decay: float,
) -> np.ndarray:
    """The weights after a step for each gradient."""
    for g, rate in zip(gradients, rates):
        step = direction(g) + decay * w
        w -= rate * step
    return w
