"""How many cars pass in an hour? A network learns it from the hour and the weather; two cameras count."""

import minigrad as mg
import numpy as np


def crossing(n, rng):
    """Hour of the day and rain, and the counts of two cameras as they send them: one byte each."""
    hour, rain = rng.uniform(0, 24, n), rng.uniform(0, 1, n)
    rush = np.exp(-(((hour - 8) / 2) ** 2)) + np.exp(-(((hour - 17) / 2.5) ** 2))
    mean = (30 + 140 * rush) * (1 - 0.3 * rain)
    north, south = (np.minimum(rng.poisson(mean), 255).astype(np.uint8) for _ in range(2))
    return hour, rain, north, south


def inputs(hour, rain):
    turn = 2 * np.pi * hour / 24
    return np.column_stack([np.sin(turn), np.cos(turn), np.sin(2 * turn), np.cos(2 * turn), 2 * rain - 1])


def predict(p, x):
    h = np.tanh(x @ p[0] + p[1])
    h = np.tanh(h @ p[2] + p[3])
    return 100 * (h @ p[4] + p[5])


def loss(p, x, cars):
    return np.mean((predict(p, x) - cars) ** 2) / 100**2


rng = np.random.default_rng(17)
hour, rain, north, south = crossing(2000, rng)
cars = (north + south).astype(np.float64)
x = inputs(hour, rain)

p = [
    rng.normal(0, 0.6, (5, 24)),
    np.zeros(24),
    rng.normal(0, 0.2, (24, 24)),
    np.zeros(24),
    rng.normal(0, 0.2, 24),
    1.0,
]
m, v = [0.0 * a for a in p], [0.0 * a for a in p]
gradient = mg.value_and_grad(loss)
for t in range(1, 1501):
    rows = rng.integers(len(x), size=100)
    value, g = gradient(p, x[rows], cars[rows])
    for k in range(len(p)):
        m[k] = 0.9 * m[k] + 0.1 * g[k]
        v[k] = 0.999 * v[k] + 0.001 * g[k] ** 2
        p[k] = p[k] - 0.005 * m[k] / (1 - 0.9**t) / (np.sqrt(v[k] / (1 - 0.999**t)) + 1e-8)
    if t % 500 == 0:
        print(f"{t:5d} {float(value):.4f}")

print(f"typical error {100 * loss(p, x, cars) ** 0.5:.1f} cars")
for clock in (3, 8, 12, 17):
    print(f"{clock:2d} h, dry: {predict(p, inputs(np.array([clock]), np.array([0.0])))[0]:.0f} cars")
