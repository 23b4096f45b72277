"""Task 14.2: warm-up and decay."""

import numpy as np


def rate(step, peak, warmup, steps):
    if step < warmup:
        return peak * (step + 1) / warmup
    progress = (step - warmup) / (steps - warmup)
    return peak * (1 + np.cos(np.pi * progress)) / 2
