"""Task 1.1: nudge a number."""


def slope(f, x, h=1e-05):
    up = f(x) + h
    down = f(x) - h
    return (up - down) / (2 * h)
