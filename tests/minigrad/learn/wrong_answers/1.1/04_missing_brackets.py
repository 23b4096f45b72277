def slope(f, x, h=1e-5):
    dx = 2 * h
    return f(x + h) - f(x - h) / dx
