"""Task 1.1: nudge a number."""

from collections.abc import Callable


def slope(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    """The derivative of f at x, by nudging x to both sides by h."""
    before = f(x)
    after = f(x + h)
    return (after - before) / h
