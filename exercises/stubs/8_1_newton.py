"""Task 8.1: Newton's method.

To find the lowest point of f, look for a place where its slope f' is 0. The second derivative f'' says how fast the slope
changes, and so how far away that place is, if the slope went on changing so. A step goes there.

After a few such steps all digits are right. But where f'' is negative, f bends downward, and the step would go to a *top*.
Use the absolute value of f'' instead: then each step points downhill (how far it goes is another matter).

Write newton(slope, bend, x, steps): slope is f' and bend is f'', both functions of a number. It returns a list with x at the
beginning and after each step, so steps + 1 numbers.

Example: f(x) = x ** 2 - 2 x, f'(x) = 2 x - 2, f''(x) = 2, from x = 5, one step: [5, 1]
"""

from collections.abc import Callable


def newton(slope: Callable[[float], float], bend: Callable[[float], float], x: float, steps: int) -> list[float]:
    """Where Newton's method passes on its way down from x."""
    raise NotImplementedError
