"""Weighted rain of the last 30 days -> level of a reservoir, with a recurrent network written out."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(101)
DAYS, UNITS = 30, 24
rain = rng.gamma(0.6, 1.0, size=(400, DAYS, 1))
level = (rain[:, :, 0] * 0.9 ** np.arange(DAYS)[::-1]).sum(axis=1) / 4

V = rng.normal(size=(1, UNITS)) * 0.3
U = rng.normal(size=(UNITS, UNITS)) * 0.5
c = np.zeros(UNITS)
w = rng.normal(size=UNITS) * 0.1
weights = (V, U, c, w)


def read(weights, sequence):
    V, U, c, w = weights
    h = np.zeros((len(sequence), UNITS))
    for day in range(DAYS):
        h = mg.relu(sequence[:, day] @ V + h @ U + c)
    return h @ w


def squared_error(weights, sequence, target):
    return np.mean((read(weights, sequence) - target) ** 2)


grads_of = mg.value_and_grad(squared_error)
for step in range(300):
    rows = rng.integers(0, 320, 32)
    value, grads = grads_of(weights, rain[rows], level[rows])
    norm = np.sqrt(sum((g ** 2).sum() for g in grads))
    weights = tuple(p - 0.01 * g / max(1.0, norm) for p, g in zip(weights, grads))
    if step % 50 == 0:
        print(f"step {step:3d}  loss {float(value):.4g}  gradient norm {norm:.4g}")

print("unseen months: error", f"{float(squared_error(weights, rain[320:], level[320:])):.4g}", "variance", level[320:].var().round(3))
