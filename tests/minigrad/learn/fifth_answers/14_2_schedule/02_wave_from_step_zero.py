"""Task 14.2: warm-up and decay."""

import numpy as np


def rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """The learning rate of a step."""
    if step < warmup:
        return (step + 1) * peak / warmup
    elif step < steps:
        return peak * (1 + np.cos(np.pi * step / steps)) / 2
    else:
        return 0.0
