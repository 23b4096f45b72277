"""Task 14.2: warm-up and decay."""

import numpy as np


def rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """The learning rate of a step."""
    amount = peak / warmup
    if step < warmup:
        return amount * (step + 1)
    elif step < steps:
        x = (step - warmup) / (steps - warmup) * np.pi
        return peak * (np.cos(x) + 1) / 2
    else:
        return 0.0
