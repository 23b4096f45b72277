"""A network with binary features, in plain functions."""

import numpy as np

import minigrad as mg
import nn


def init(rng):
    return {
        "W1": rng.normal(0, 1, (2, 6)),
        "b1": np.zeros(6),
        "W2": rng.normal(0, 0.3, (6, 3)),
        "b2": np.zeros(3),
    }


def forward(p, x):
    features = np.sign(x @ p["W1"] + p["b1"])
    return features @ p["W2"] + p["b2"]


def loss_fn(p, x, y):
    return nn.cross_entropy(forward(p, x), y)


rng = np.random.default_rng(9)
y = rng.integers(0, 3, 450)
r = np.linspace(0.1, 1, 450)
angle = 2.5 * r + 2 * np.pi * y / 3 + rng.normal(0, 0.15, 450)
x = 2 * np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)

params = init(rng)
gradient = mg.value_and_grad(loss_fn)
for step in range(400):
    rows = rng.integers(0, 450, 64)
    loss, g = gradient(params, x[rows], y[rows])
    params = {k: params[k] - 0.5 * g[k] for k in params}
    if step % 50 == 0:
        accuracy = (np.argmax(forward(params, x), axis=1) == y).mean()
        print(f"step {step}: loss {float(loss):.3f}, accuracy {accuracy:.3f}")
