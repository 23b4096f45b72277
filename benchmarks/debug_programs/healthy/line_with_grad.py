# Least squares with mg.grad.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(201)
X = rng.normal(size=(80, 3))
y = X @ [2.0, -1.0, 0.5] + 1.0 + 0.1 * rng.normal(size=80)


def loss(w, b):
    return np.mean((X @ w + b - y) ** 2)


w, b = np.zeros(3), 0.0
step = mg.grad(loss, (0, 1))
for i in range(100):
    gw, gb = step(w, b)
    w, b = w - 0.1 * gw, b - 0.1 * gb
    if i % 10 == 0:
        print(i, round(float(loss(w, b)), 5))
print(w.round(2), round(float(b), 2))
