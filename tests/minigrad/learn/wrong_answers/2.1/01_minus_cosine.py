import math


def two_ways(x: float) -> tuple[float, float, float]:
    a, b = x * x, math.sin(x)
    return a * b, b * 2 * x, -a * math.cos(x)
