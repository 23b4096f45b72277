def newton(slope, bend, x, steps):
    xs = [x]
    for _ in range(steps):
        new = x - slope(x) / abs(bend(x))
        xs.append(x)
        x = new
    return xs
