"""Task 8.1: Newton's method."""

from collections.abc import Callable


def newton(slope: Callable[[float], float], bend: Callable[[float], float], x: float, steps: int) -> list[float]:
    """Where Newton's method passes on its way down from x."""
    xs = [x]
    for i in range(steps):
        xs.append(xs[-1] - slope(xs[-1]) / bend(xs[-1]))
    return xs
