"""Task 14.2: warm-up and decay."""

import numpy as np


def rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """The learning rate of a step."""
    if step < warmup:
        return peak * step / warmup
    if step >= steps:
        return 0.0
    progress = (step - warmup) / (steps - warmup)
    return peak * 0.5 * (1 + np.cos(np.pi * progress))
