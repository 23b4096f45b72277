"""Read the value of the sensor whose lamp is lit: six sensors, one of them chosen."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(3)
N, SENSORS, HIDDEN = 256, 6, 12


def make(n):
    lamp = rng.normal(0.0, 0.3, (n, SENSORS))
    lit = rng.integers(0, SENSORS, n)
    lamp[np.arange(n), lit] += 3.0
    reading = rng.normal(size=(n, SENSORS))
    return np.stack([lamp, reading], axis=-1), reading[np.arange(n), lit]


x, y = make(N)
x_new, y_new = make(200)

params = {
    "W": rng.normal(0, 0.5, (2, HIDDEN)),
    "b": np.zeros(HIDDEN),
    "u": rng.normal(0, 0.3, HIDDEN),
    "V": rng.normal(0, 0.5, (2, HIDDEN)),
    "out": rng.normal(0, 0.3, HIDDEN),
}


def predict(p, x):
    hidden = np.tanh(x @ p["W"] + p["b"])
    score = hidden @ p["u"]
    weight = mg.softmax(score, axis=0)
    picked = ((x @ p["V"]) * weight[:, :, None]).sum(axis=1)
    return picked @ p["out"]


def loss(p, x, y):
    return np.mean((predict(p, x) - y) ** 2)


step_of = mg.value_and_grad(loss)
velocity = mg.tree_map(np.zeros_like, params)
for step in range(400):
    value, gradient = step_of(params, x, y)
    velocity = mg.tree_map(lambda v, g: 0.9 * v + g, velocity, gradient)
    params = mg.tree_map(lambda p, v: p - 0.05 * v, params, velocity)
    if step % 80 == 0:
        print(f"{step:4d}  {value:.4f}")
error = np.mean((predict(params, x_new) - y_new) ** 2)
print(f"unseen sensors: squared error {error:.4f}, variance of the readings {y_new.var():.4f}")
