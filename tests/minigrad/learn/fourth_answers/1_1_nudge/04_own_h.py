"""Task 1.1: nudge a number."""

from collections.abc import Callable


def slope(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    """The derivative of f at x, by nudging x to both sides by h."""
    h = 0.00001
    right = f(x + h)
    left = f(x - h)
    return (right - left) / (2 * h)
