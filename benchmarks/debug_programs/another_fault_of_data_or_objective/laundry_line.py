"""When is the washing dry? Hours on the line, from the weather and the load."""

import numpy as np

import minigrad as mg


def standard(column, learn=900):
    return (column - column[:learn].mean()) / column[:learn].std()


def mondays(n, rng):
    """Five measured columns and the hours until the last sheet was dry."""
    warmth = rng.normal(16, 6, n)
    damp = rng.uniform(0.35, 0.95, n)
    wind = rng.gamma(2.0, 1.5, n)
    load = rng.uniform(2, 7, n)
    spin = rng.choice([800.0, 1000.0, 1200.0, 1400.0], n)
    thirst = (1.05 - damp) * np.exp(0.05 * (warmth - 16)) * (1 + 0.3 * wind)
    hours = 0.9 * load**0.5 * (2000 - spin) / 900 / (0.3 + thirst) + rng.normal(0, 0.1, n)
    return [warmth, damp, wind, load, spin], hours


def dense(rng, *sizes):
    return [(rng.normal(size=(a, b)) * a**-0.5, np.zeros(b)) for a, b in zip(sizes, sizes[1:])]


def hours_of(layers, x):
    for w, b in layers[:-1]:
        x = mg.silu(x @ w + b)
    w, b = layers[-1]
    return (x @ w + b)[:, 0]


def loss(layers, x, y):
    return np.mean(np.abs(hours_of(layers, x) - y))


rng = np.random.default_rng(55)
columns, hours = mondays(1200, rng)
x = np.array([standard(column) for column in columns]).reshape(-1, 5)
y = standard(hours)

layers = dense(rng, 5, 32, 16, 1)
gradient = mg.value_and_grad(loss)
m, v = mg.tree_map(np.zeros_like, layers), mg.tree_map(np.zeros_like, layers)
for t in range(1, 401):
    rows = rng.integers(0, 900, 90)
    value, g = gradient(layers, x[rows], y[rows])
    m = mg.tree_map(lambda a, d: 0.9 * a + 0.1 * d, m, g)
    v = mg.tree_map(lambda a, d: 0.99 * a + 0.01 * d * d, v, g)
    lr = 0.01 * min(1.0, (400 - t) / 200)
    layers = mg.tree_map(
        lambda p, a, b: p - lr * a / (1 - 0.9**t) / (np.sqrt(b / (1 - 0.99**t)) + 1e-8), layers, m, v
    )
    if t % 100 == 0:
        print(t, f"{value:.3f}")

off = loss(layers, x[900:], y[900:])
print(f"off by {off:.3f} on other Mondays; the median is off by {np.mean(np.abs(y[900:] - np.median(y[:900]))):.3f}")
