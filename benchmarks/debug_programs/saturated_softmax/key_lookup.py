# Find the value that stands beside the key most like the query.
import numpy as np
import minigrad as mg
from minigrad import Tensor

rng = np.random.default_rng(68)
KEYS, WIDTH = 6, 16
mix = rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH)

Q = Tensor(rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH), requires_grad=True)
K = Tensor(rng.normal(size=(WIDTH, WIDTH)) / np.sqrt(WIDTH), requires_grad=True)


def draw(count):
    keys = rng.normal(size=(count, KEYS, WIDTH))
    values = rng.normal(size=(count, KEYS))
    which = rng.integers(0, KEYS, count)
    query = keys[np.arange(count), which] @ mix + 0.05 * rng.normal(size=(count, WIDTH))
    return query, keys, values, values[np.arange(count), which]


def read(query, keys, values):
    scores = ((query @ Q)[:, None, :] * (keys @ K)).sum(axis=-1) * WIDTH
    weight = mg.softmax(scores, axis=-1)
    return (weight * values).sum(axis=-1)


recent = []
for step in range(800):
    query, keys, values, target = draw(32)
    loss = ((read(query, keys, values) - target) ** 2).mean()
    loss.backward()
    for p in (Q, K):
        p.data -= 0.5 * p.grad
        p.zero_grad()
    recent.append(loss.item())
    if step % 200 == 199:
        print(step + 1, round(float(np.mean(recent[-100:])), 4))
