"""A well-conditioned problem, on which a learning rate of 0.9 is right."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(218)
Q = np.linalg.qr(rng.normal(size=(200, 5)))[0] * np.sqrt(200)
target = Q @ rng.normal(size=5) + 0.05 * rng.normal(size=200)


def loss(w):
    return 0.5 * np.mean((Q @ w - target) ** 2)


w = np.zeros(5)
for step in range(15):
    value, gradient = mg.value_and_grad(loss)(w)
    w = w - 0.9 * gradient
    print(f"step {step}: {float(value):.6f}")
