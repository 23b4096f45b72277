"""Task 8.1: Newton's method."""

from collections.abc import Callable


def newton(slope: Callable[[float], float], bend: Callable[[float], float], x: float, steps: int) -> list[float]:
    """Where Newton's method passes on its way down from x."""
    result = []
    for _ in range(steps):
        x -= slope(x) / abs(bend(x))
        result.append(x)
    return result
