from math import cos, sin


def two_ways(x):
    a = x * x
    b = sin(x)
    y = a * b
    way_a = a * (2 * x)
    way_b = b * cos(x)
    return y, way_a, way_b
