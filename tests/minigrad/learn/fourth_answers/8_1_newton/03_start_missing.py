"""Task 8.1: Newton's method."""


def newton(slope, bend, x, steps):
    path = []
    for _ in range(steps):
        x -= slope(x) / abs(bend(x))
        path.append(x)
    return path
