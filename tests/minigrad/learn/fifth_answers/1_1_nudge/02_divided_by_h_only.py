"""Task 1.1: nudge a number."""

from collections.abc import Callable


def slope(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    """The derivative of f at x, by nudging x to both sides by h."""
    right = f(x + h)
    left = f(x - h)
    change = right - left
    return change / h
