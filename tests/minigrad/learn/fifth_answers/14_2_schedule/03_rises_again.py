"""Task 14.2: warm-up and decay."""

import numpy as np


def rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """The learning rate of a step."""
    if step < warmup:
        return peak * (step + 1) / warmup
    x = np.pi * (step - warmup) / (steps - warmup)
    return float(peak * (np.cos(x) + 1) / 2)
