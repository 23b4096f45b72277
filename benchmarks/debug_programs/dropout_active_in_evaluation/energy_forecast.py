"""Power consumption of a building from the weather; everything from scratch, dropout included."""

from itertools import pairwise

import numpy as np

from minigrad import Tensor, relu

rng = np.random.default_rng(116)


class MLP:
    def __init__(self, sizes, drop):
        self.drop = drop
        self.W = [Tensor(rng.normal(0, np.sqrt(2 / a), (a, b)), requires_grad=True) for a, b in pairwise(sizes)]
        self.b = [Tensor(np.zeros(b), requires_grad=True) for b in sizes[1:]]

    def forward(self, x, training=True):
        for W, b in zip(self.W[:-1], self.b[:-1]):
            x = relu(x @ W + b)
            if training:
                x = x * (rng.random(x.shape) >= self.drop) / (1 - self.drop)
        return x @ self.W[-1] + self.b[-1]

    def predict(self, x):
        return self.forward(x).numpy()


temperature, wind, hour = rng.normal(10, 8, 600), rng.gamma(2, 2, 600), rng.uniform(0, 24, 600)
power = 50 - 1.5 * temperature + 2 * wind + 15 * np.sin((hour - 6) * np.pi / 12)
x = np.stack([temperature / 8, wind / 3, np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12)], axis=1)
y = ((power - power.mean()) / power.std())[:, None]

net = MLP([4, 40, 1], drop=0.4)
for epoch in range(60):
    for rows in np.split(rng.permutation(500), 10):
        loss = ((net.forward(x[rows]) - y[rows]) ** 2).mean()
        loss.backward()
        for p in net.W + net.b:
            p.data -= 0.05 * p.grad
            p.zero_grad()
    if epoch % 10 == 9:
        error = ((net.predict(x[500:]) - y[500:]) ** 2).mean()
        print(f"epoch {epoch + 1}: training loss {loss.item():.4f}, error on unseen hours {error:.4f}")
