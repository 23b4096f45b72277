"""Task 14.2: warm-up and decay."""

import numpy as np


def rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """The learning rate of a step."""
    if step < warmup:
        return (step + 1) / warmup * peak
    if step >= steps:
        return 0.0
    return peak / 2 * (1 + np.cos(np.pi * (step - warmup) / max(steps - warmup - 1, 1)))
