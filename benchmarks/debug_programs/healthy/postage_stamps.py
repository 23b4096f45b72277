"""Squeeze pictures of stamps, 9 by 9 points, into four numbers and draw them again."""

import minigrad as mg
import numpy as np

SIDE, CODE = 9, 4
rng = np.random.default_rng(27)
row, column = np.mgrid[-1:1:9j, -1:1:9j]


def stamps(n):
    cx, cy = rng.uniform(-0.6, 0.6, (2, n, 1, 1))
    wide, bright = rng.uniform(0.3, 0.7, (n, 1, 1)), rng.uniform(0.5, 1.0, (n, 1, 1))
    pictures = bright * np.exp(-(((row - cy) / wide) ** 2) - ((column - cx) / wide) ** 2)
    return pictures.reshape(n, -1)


def squeeze(p, x):
    return np.tanh(x @ p["a"] + p["a0"]) @ p["b"] + p["b0"]


def draw(p, code):
    return np.tanh(code @ p["c"] + p["c0"]) @ p["d"] + p["d0"]


def loss(p, x, target):
    return np.mean((draw(p, squeeze(p, x)) - target) ** 2)


sizes = {"a": (SIDE**2, 40), "b": (40, CODE), "c": (CODE, 40), "d": (40, SIDE**2)}
p = {}
for name, (rows, columns) in sizes.items():
    p[name] = rng.normal(0, rows**-0.5, (rows, columns))
    p[name + "0"] = np.zeros(columns)

train, test = stamps(2000), stamps(300)
mean, square = mg.tree_map(np.zeros_like, p), mg.tree_map(np.zeros_like, p)
gradient = mg.value_and_grad(loss)
for t in range(1, 1501):
    x = train[rng.integers(len(train), size=64)]
    value, g = gradient(p, x, x)
    for name, array in p.items():
        mean[name] = 0.9 * mean[name] + 0.1 * g[name]
        square[name] = 0.99 * square[name] + 0.01 * g[name] ** 2
        size = np.sqrt(square[name] / (1 - 0.99**t)) + 1e-8
        p[name] = array - 0.003 * mean[name] / (1 - 0.9**t) / size
    if t % 300 == 0:
        print(f"{t:5d}  {float(value):.5f}")
print(f"error of new stamps {loss(p, test, test) ** 0.5:.4f}, they vary by {test.std(axis=0).mean():.4f}")
