"""Task 14.2: warm-up and decay."""

import numpy as np


def rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """The learning rate of a step."""
    if step < warmup:
        return peak * (step + 1) / warmup
    if step >= steps:
        return 0.0
    return peak * (np.cos(np.pi * step / steps) + 1) / 2
