"""Count the pulses in short records with a recurrent network on plain arrays."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(14)
UNITS, ROWS = 12, 32

params = {
    "in": rng.normal(0, 0.5, (1, UNITS)),
    "rec": np.eye(UNITS) * 0.95 + rng.normal(0, 0.05, (UNITS, UNITS)),
    "bias": np.zeros(UNITS),
    "out": rng.normal(0, 0.2, (UNITS, 1)),
    "shift": np.zeros(1),
}
blank = np.zeros((ROWS, UNITS))


def records(length):
    pulses = (rng.random((ROWS, length)) < 0.3).astype(float)
    return pulses, pulses.sum(axis=1, keepdims=True) / 4


def roll(p, pulses, start):
    h = start
    for t in range(pulses.shape[1]):
        h = np.tanh(pulses[:, t : t + 1] @ p["in"] + h @ p["rec"] + p["bias"])
    return h @ p["out"] + p["shift"], h


def objective(p, pulses, count, start):
    guess, last = roll(p, pulses, start)
    return np.mean((guess - count) ** 2), last


train = mg.value_and_grad(objective, has_aux=True)
m = mg.tree_map(np.zeros_like, params)
v = mg.tree_map(np.zeros_like, params)
for step in range(1, 601):
    pulses, count = records(rng.integers(4, 13))
    state = blank
    (value, last), grads = train(params, pulses, count, state)
    state[:] = last
    m = mg.tree_map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
    v = mg.tree_map(lambda a, g: 0.99 * a + 0.01 * g * g, v, grads)
    rate = 0.006 * (1 - step / 700)
    params = mg.tree_map(lambda p, a, b: p - rate * a / (np.sqrt(b) + 1e-8), params, m, v)
    if step % 100 == 0:
        print(step, float(value))

errors = []
for _ in range(20):
    pulses, count = records(8)
    guess, _ = roll(params, pulses, np.zeros((ROWS, UNITS)))
    errors.append(np.mean((guess - count) ** 2))
print("mean error on fresh records:", np.mean(errors).round(4))
