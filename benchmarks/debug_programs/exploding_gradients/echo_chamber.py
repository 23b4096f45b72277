"""A recurrent network by hand that sums the marked numbers of a sequence of 30."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(4)
LENGTH, UNITS = 30, 24


def sequences(count):
    value = rng.uniform(0, 1, (count, LENGTH))
    mark = np.zeros((count, LENGTH))
    for row in range(count):
        mark[row, rng.choice(LENGTH, 2, replace=False)] = 1
    return np.stack([value, mark], axis=-1), (value * mark).sum(axis=1)


U = mg.Tensor(rng.normal(0, 0.5, (2, UNITS)), requires_grad=True, name="U")
W = mg.Tensor(rng.normal(0, 1.0, (UNITS, UNITS)), requires_grad=True, name="W")
b = mg.Tensor(np.zeros(UNITS), requires_grad=True, name="b")
v = mg.Tensor(rng.normal(0, 0.2, UNITS), requires_grad=True, name="v")


def run(x):
    h = np.zeros((len(x), UNITS))
    for t in range(LENGTH):
        h = mg.relu(x[:, t] @ U + h @ W + b)
    return h @ v


optimizer = nn.Adam([U, W, b, v], lr=0.003)
for step in range(160):
    x, total = sequences(64)
    optimizer.zero_grad()
    loss = ((run(x) - total) ** 2).mean()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"{step:3d} loss {loss.item():.4g}")
x, total = sequences(256)
with mg.no_grad():
    error = ((run(x) - total) ** 2).mean().item()
print(f"error {error:.4g}, of the mean {total.var():.4g}")
