def newton(slope, bend, x, steps):
    path = [x]
    curvature = abs(bend(x))
    for _ in range(steps):
        x = x - slope(x) / curvature
        path.append(x)
    return path
