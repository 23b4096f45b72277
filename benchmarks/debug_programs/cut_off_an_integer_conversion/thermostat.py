"""A thermostat with eleven levels, trained from recorded comfort."""

import numpy as np
from minigrad import Tensor
import minigrad as mg

rng = np.random.default_rng(8)
weather = rng.normal(size=(150, 4))
comfort = 1 / (1 + np.exp(-(weather @ [1.5, -1.0, 0.5, 0.0])))

w = Tensor(rng.normal(0, 0.1, 4), requires_grad=True)
b = Tensor(0.0, requires_grad=True)
gain = Tensor(1.0, requires_grad=True)
offset = Tensor(0.0, requires_grad=True)
weights = [w, b, gain, offset]


def level(x):
    score = mg.sigmoid(x @ w + b)
    return (10 * score).astype(np.int64)


def comfort_of(x):
    return gain * level(x) / 10.0 + offset


for epoch in range(500):
    loss = ((comfort_of(weather) - comfort) ** 2).mean()
    loss.backward()
    for p in weights:
        if p.grad is not None:
            p.data = p.data - 0.3 * p.grad.numpy()
        p.zero_grad()
    if epoch % 100 == 0:
        print(f"epoch {epoch}: {loss.item():.5f}")

print("weights", w.numpy().round(2), "loss", round(loss.item(), 5))
