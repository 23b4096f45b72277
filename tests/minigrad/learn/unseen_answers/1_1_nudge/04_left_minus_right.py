"""Task 1.1: nudge a number.

How fast does f(x) change when x changes? Move x a little to the right, then a little to the left, and divide the change of
the result by the change of x:

    slope = (f(x + h) - f(x - h)) / (2 h)

That is the derivative of f at x, almost exactly. It needs no rule of calculus, and so it can check all the rules to come.

Write slope(f, x, h). f takes one number and returns one number; x and h are numbers.

Example: f(x) = x * x at x = 3 with h = 0.001:
    f(3.001) = 9.006001, f(2.999) = 8.994001, and (9.006001 - 8.994001) / 0.002 = 6
"""

from collections.abc import Callable


def slope(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    """The derivative of f at x, by nudging x to both sides by h."""
    a = f(x - h)
    b = f(x + h)
    return (a - b) / (2 * h)
