"""Tons of wheat per field: a ReLU network with a loop by hand."""

import numpy as np
import minigrad as mg
from minigrad import Tensor

rng = np.random.default_rng(78)
soil = rng.uniform(0, 1, (120, 3))
tons = 400 + 200 * soil[:, :1] - 100 * soil[:, 1:2] ** 2

shapes = [(3, 16), (16,), (16, 1), (1,)]
W, b, V, c = [Tensor(rng.normal(0, 0.4, s) if len(s) > 1 else np.zeros(s), requires_grad=True) for s in shapes]


def predict(x):
    hidden = mg.relu(x @ W + b)
    return hidden @ V + c


def active(x):
    return float((x @ W.numpy() + b.numpy() > 0).mean())


RATE = 0.1
goal = tons
for step in range(500):
    loss = ((predict(soil) - goal) ** 2).mean()
    loss.backward()
    for p in (W, b, V, c):
        p.data -= RATE * p.grad
        p.zero_grad()
    if step % 100 == 0:
        print(f"{step:3d} loss {loss.item():.2f}, active {active(soil):.2f}")

spread = predict(soil).numpy().std() / goal.std()
print("loss relative to the variance", round(loss.item() / goal.var(), 4), "spread", round(float(spread), 3))
