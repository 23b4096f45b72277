"""Learns to judge a mancala board as an old player does: from the seeds in twelve pits."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(77)
WORTH = np.array([1, 2, 4, 6, 9, 12, 1, 2, 4, 6, 9, 12], np.int8)           # the player's pits, then the opponent's


def boards(count):
    """Seeds in the pits. A board has 48 seeds, less those in the stores."""
    left = rng.integers(20, 49, size=count)
    return np.stack([rng.multinomial(n, rng.dirichlet(np.full(12, 1.2))) for n in left]).astype(np.int8)


def judged(seeds):
    """What the board is worth to the player: own seeds count, and the opponent's count against."""
    mine, theirs = seeds[:, :6], seeds[:, 6:]
    return (mine @ WORTH[:6]).astype(np.float64) - (theirs @ WORTH[6:]).astype(np.float64) * 0.8


seeds = boards(1500)
value = judged(seeds)
x = seeds / 6.0
scale = value[:1100].std()
y = (value - value[:1100].mean()) / scale


def init(sizes):
    return [
        {"w": rng.normal(size=(a, b)) * np.sqrt(2 / a), "b": np.zeros(b)} for a, b in zip(sizes[:-1], sizes[1:])
    ]


def predict(layers, x):
    for layer in layers[:-1]:
        x = np.maximum(x @ layer["w"] + layer["b"], 0)
    return (x @ layers[-1]["w"] + layers[-1]["b"]).reshape(-1)


def loss(layers, x, y):
    return np.mean((predict(layers, x) - y) ** 2)


layers = init([12, 32, 1])
step = mg.value_and_grad(loss)
velocity = mg.tree_map(np.zeros_like, layers)
for t in range(400):
    rows = rng.integers(0, 1100, 100)
    value_now, g = step(layers, x[rows], y[rows])
    velocity = mg.tree_map(lambda v, d: 0.9 * v - 0.01 * d, velocity, g)
    layers = mg.tree_map(lambda p, v: p + v, layers, velocity)
    if t % 100 == 99:
        print(t + 1, f"{value_now:.3f}")

error = predict(layers, x[1100:]) - y[1100:]
print(f"mean squared error on new boards {np.mean(error**2):.3f}, of a constant 1.0")
