"""Is a point on a black or a white square? A class with its own update."""

import numpy as np
import minigrad as mg
from minigrad import Tensor

rng = np.random.default_rng(71)
points = rng.uniform(-1, 1, (300, 2))
black = (points[:, 0] * points[:, 1] > 0).astype(float)


def parameter(*shape, value=None):
    array = np.full(shape, value) if value is not None else rng.normal(0, 0.7, shape)
    return Tensor(array, requires_grad=True)


class Board:
    def __init__(self, units):
        self.W = parameter(2, units, value=0.5)
        self.b = parameter(units, value=0.1)
        self.v = parameter(units, value=1 / units)
        self.c = parameter(value=0.0)

    def probability(self, x):
        return mg.sigmoid(np.tanh(x @ self.W + self.b) @ self.v + self.c)

    def update(self, rate):
        for p in vars(self).values():
            p.data = p.data - rate * p.grad.numpy()
            p.zero_grad()


board = Board(12)
for epoch in range(1500):
    q = board.probability(points)
    loss = -np.mean(black * np.log(q + 1e-9) + (1 - black) * np.log(1 - q + 1e-9))
    loss.backward()
    board.update(0.5)
    if epoch % 300 == 299:
        right = np.mean((board.probability(points).numpy() > 0.5) == black)
        print(f"{epoch + 1} loss {loss.item():.4f} right {right:.3f}")
