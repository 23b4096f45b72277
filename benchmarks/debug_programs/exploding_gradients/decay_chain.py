"""A linear recurrent network predicts the next day of four coupled series."""
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(82)
DAYS, SERIES, UNITS = 20, 4, 24
turn = np.array([[0.95, 0.2, 0, 0], [-0.2, 0.95, 0, 0], [0.1, 0, 0.8, 0.3], [0, 0, -0.3, 0.8]])


def courses(n):
    x = [rng.normal(size=(n, SERIES))]
    for _ in range(DAYS):
        x.append(x[-1] @ turn.T + 0.02 * rng.normal(size=(n, SERIES)))
    return np.stack(x, axis=1)


def tensor(a):
    return Tensor(a, requires_grad=True)


read = tensor(rng.normal(size=(SERIES, UNITS)) * 0.3)
again = tensor(rng.normal(size=(UNITS, UNITS)) * 0.4)
write = tensor(rng.normal(size=(UNITS, SERIES)) * 0.2)
weights = [read, again, write]


def rollout(x):
    h = np.zeros((len(x), UNITS))
    said = []
    for t in range(DAYS):
        h = x[:, t] @ read + h @ again
        said.append(h @ write)
    return np.stack(said, axis=1)


for step in range(150):
    x = courses(16)
    loss = ((rollout(x) - x[:, 1:]) ** 2).mean()
    loss.backward()
    for w in weights:
        w.data -= 0.01 * w.grad
        w.zero_grad()
    if step % 25 == 0:
        print(step, loss.item())
print("end", loss.item())
