"""Task 14.2: warm-up and decay.

The learning rate of each step, where the steps are counted from 0:

Warm-up: in the first `warmup` steps the rate rises evenly, by the same amount in each step. Step 0 has that amount already,
and the last of these steps has the highest rate, `peak`. There may be no warm-up at all: then `warmup` is 0.

Decay: from step number `warmup` on the rate falls from `peak` to 0, along half a wave of the cosine. The cosine falls from 1,
at 0, to -1, at pi: stretch it, and lift it, so that it begins with `peak` at step number `warmup`, and is 0 at step
number `steps`. From there on the rate stays 0.

Write rate(step, peak, warmup, steps), which returns the rate of one step. `warmup` is less than `steps`.

Example: peak = 1, warmup = 2, steps = 10: the steps 0, 1, 2, 4, 6, 8, 10 have the rates 0.5, 1, 1, 0.8536, 0.5, 0.1464, 0
"""

import numpy as np


def rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """The learning rate of a step."""
    if step < warmup:
        return (step + 1) / warmup * peak
    if step >= steps:
        return 0.0
    return peak * (1 + np.cos(np.pi * step / steps)) / 2
