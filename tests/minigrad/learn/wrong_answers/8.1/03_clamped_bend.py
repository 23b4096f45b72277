def newton(slope, bend, x, steps):
    out = [x]
    for _ in range(steps):
        b = bend(x)
        if b < 0:
            b = 1.0  # not negative
        x = x - slope(x) / b
        out.append(x)
    return out
