"""Scores of wines from twenty measurements, most of which are noise."""

import numpy as np
import minigrad as mg

rng = np.random.default_rng(52)
wines = rng.normal(size=(230, 20))
scores = wines[:, :1] * 0.8 + rng.normal(0, 0.8, (230, 1))
x, y = wines[:30], scores[:30]
held_x, held_y = wines[200:], scores[200:]

WIDTH = 128
theta = [
    rng.normal(0, 0.22, (20, WIDTH)),
    np.zeros(WIDTH),
    rng.normal(0, 0.09, (WIDTH, 1)),
    np.zeros(1),
]


def loss(theta, x, y):
    W, b, V, c = theta
    return np.mean((np.tanh(x @ W + b) @ V + c - y) ** 2)


gradient = mg.value_and_grad(loss)
velocity = [np.zeros_like(p) for p in theta]
for step in range(800):
    value, grads = gradient(theta, x, y)
    velocity = [0.9 * v - 0.01 * g for v, g in zip(velocity, grads)]
    theta = [p + v for p, v in zip(theta, velocity)]
    if step % 100 == 0:
        print(f"{step:4d} training {float(value):.4f} held out {float(loss(theta, held_x, held_y)):.4f}")

print(f"end  training {float(value):.5f} held out {float(loss(theta, held_x, held_y)):.4f}")
