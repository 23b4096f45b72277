# central difference: half of the step to the left, half to the right
def slope(f, x, h=1e-5):
    step = h / 2
    right = f(x + step)
    left = f(x - step)
    return (right - left) / (2 * h)
