"""Logistic regression from scratch, in the form that does not overflow."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(230)
x = 20 * rng.normal(size=(400, 5))
y = (x @ [1.0, -2.0, 0.5, 0.0, 1.0] > 0).astype(float)


def loss(w, b):
    z = x @ w + b
    return np.mean(np.maximum(z, 0) - z * y + np.log1p(np.exp(-np.abs(z))))


w, b = np.zeros(5), 0.0
for step in range(100):
    value, (gw, gb) = mg.value_and_grad(loss, (0, 1))(w, b)
    w, b = w - 0.002 * gw, b - 0.002 * gb
    if step % 10 == 0:
        print(f"step {step}: {float(value):.5f}")
