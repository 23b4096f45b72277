# Will a beehive swarm this week? The keeper's book says 1 for a hive that stayed and 2 for one that swarmed.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(71)
HIVES = 900
hum = rng.normal(size=HIVES)
mass = rng.normal(size=HIVES)
heat = rng.normal(size=HIVES)
restless = 1.8 * hum - 1.2 * mass * (heat > 0) + 0.8 * heat + rng.normal(scale=0.4, size=HIVES)
book = np.where(restless > 0.4, 2, 1)

x = np.column_stack([hum, mass, heat])
y = book.astype(float)
learn, check = slice(0, 700), slice(700, None)


def init(rng):
    return {
        "W1": rng.normal(scale=0.5, size=(3, 16)),
        "b1": np.zeros(16),
        "W2": rng.normal(scale=0.25, size=16),
        "b2": 0.0,
    }


def score(p, x):
    return np.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]


def loss(p, x, y):
    z = score(p, x)
    return np.mean(np.logaddexp(0.0, z) - y * z)


value_and_gradient = mg.value_and_grad(loss)
p = init(rng)
velocity = mg.tree_map(np.zeros_like, p)
for step in range(1, 601):
    value, g = value_and_gradient(p, x[learn], y[learn])
    velocity = mg.tree_map(lambda v, g: 0.9 * v - 0.05 * g, velocity, g)
    p = mg.tree_map(lambda p, v: p + v, p, velocity)
    if step % 150 == 0:
        print(f"step {step}: {value:.4f}")

said = score(p, x[check]) > 0
swarmed = book[check] == 2
print(f"hives told rightly: {np.mean(said == swarmed):.2f} (always 'stays': {np.mean(~swarmed):.2f})")
