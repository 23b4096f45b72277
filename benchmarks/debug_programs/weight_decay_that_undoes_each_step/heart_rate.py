"""Heart rate from age, speed and slope: a small network in a class."""

from itertools import pairwise

import numpy as np

from minigrad import Tensor


class Network:
    def __init__(self, *sizes, seed):
        rng = np.random.default_rng(seed)
        self.layers = [
            (Tensor(rng.normal(0, a**-0.5, (a, b)), requires_grad=True), Tensor(np.zeros(b), requires_grad=True))
            for a, b in pairwise(sizes)
        ]

    def __call__(self, x):
        for i, (W, b) in enumerate(self.layers):
            x = x @ W + b
            if i < len(self.layers) - 1:
                x = np.tanh(x)
        return x

    def update(self, lr, shrink=0.2):
        for layer in self.layers:
            for p in layer:
                p.data -= lr * p.grad
                p.data *= 1 - shrink
                p.zero_grad()


rng = np.random.default_rng(146)
x = rng.uniform(-1, 1, size=(400, 3))
y = 0.5 * x[:, :1] + np.tanh(2 * x[:, 1:2]) + 0.5 * x[:, 1:2] * x[:, 2:]
net = Network(3, 24, 1, seed=1)
for epoch in range(80):
    for start in range(0, 400, 40):
        loss = ((net(x[start : start + 40]) - y[start : start + 40]) ** 2).mean()
        loss.backward()
        net.update(0.1)
    if epoch % 8 == 0:
        print(f"epoch {epoch}: {((net(x) - y) ** 2).mean().item():.4f} (variance {y.var():.4f})")
