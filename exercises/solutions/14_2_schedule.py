"""A solution of 14.2."""

import numpy as np


def rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """The learning rate of a step."""
    if step < warmup:
        return peak * (step + 1) / warmup
    t = min((step - warmup) / (steps - warmup), 1.0)
    return peak * (1 + np.cos(np.pi * t)) / 2
