"""A small network of Gaussian units that fits a curve."""

import numpy as np
import minigrad as mg


def _bump(x, /):
    return np.exp(-0.5 * x * x)


bump = mg.primitive(_bump, name="bump").vjp(x=lambda g, ans, x: g * x * ans)

rng = np.random.default_rng(7)
x = np.linspace(-2, 2, 80)[:, None]
y = np.sin(3 * x)

params = {
    "W": rng.normal(0, 1.5, (1, 6)),
    "c": rng.normal(0, 1.0, 6),
    "V": rng.normal(0, 0.5, (6, 1)),
    "d": np.zeros(1),
}


def loss(p):
    h = bump(x @ p["W"] + p["c"])
    return np.mean((h @ p["V"] + p["d"] - y) ** 2)


step = mg.value_and_grad(loss)
for i in range(1500):
    value, gradient = step(params)
    params = {k: params[k] - 0.1 * gradient[k] for k in params}
    if i % 300 == 0:
        print(i, round(float(value), 5))
print("end", round(float(value), 5))
