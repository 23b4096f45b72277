"""The angle of a pendulum after one second, from its start: three hidden tanh layers."""

import numpy as np

import minigrad as mg


def simulate(angle, speed, dt=0.02):
    for _ in range(50):
        speed = speed - dt * 9.81 * np.sin(angle)
        angle = angle + dt * speed
    return angle


rng = np.random.default_rng(66)
start = rng.uniform(-1, 1, size=(300, 2))
target = simulate(start[:, 0], start[:, 1])

shapes = [(2, 64), (64, 64), (64, 64), (64, 1)]
weights = [rng.normal(size=shape) for shape in shapes]
biases = [np.zeros(shape[1]) for shape in shapes]


def network(weights, biases, x):
    for W, b in zip(weights[:-1], biases[:-1]):
        x = np.tanh(x @ W + b)
    return np.sum(x @ weights[-1] + biases[-1], axis=1)


def cost(weights, biases):
    return np.mean((network(weights, biases, start) - target) ** 2)


both = mg.value_and_grad(cost, (0, 1))
for epoch in range(300):
    value, (gw, gb) = both(weights, biases)
    weights = [W - 0.02 * g for W, g in zip(weights, gw)]
    biases = [b - 0.02 * g for b, g in zip(biases, gb)]
    if epoch % 30 == 0:
        print(f"epoch {epoch}: {float(value):.4f}")
