"""Task 8.1: Newton's method."""

from collections.abc import Callable


def newton(slope: Callable[[float], float], bend: Callable[[float], float], x: float, steps: int) -> list[float]:
    """Where Newton's method passes on its way down from x."""
    points = [x]
    for i in range(steps):
        x = points[-1]
        points.append(x - abs(slope(x) / bend(x)))
    return points
