"""Task 8.1: Newton's method."""

from collections.abc import Callable


def newton(slope: Callable[[float], float], bend: Callable[[float], float], x: float, steps: int) -> list[float]:
    """Where Newton's method passes on its way down from x."""
    path = [x]
    for _ in range(steps):
        x = x - slope(x) / bend(x)
        path.append(x)
    return path
