"""One block, applied six times, with an input and an output layer."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(46)


class Linear:
    def __init__(self, a, b):
        self.W = Tensor(rng.normal(0, 1 / np.sqrt(a), (a, b)), requires_grad=True)
        self.b = Tensor(np.zeros(b), requires_grad=True)

    def __call__(self, x):
        return x @ self.W + self.b


class Network:
    def __init__(self, width, times):
        self.inp, self.block, self.out = Linear(3, width), Linear(width, width), Linear(width, 1)
        self.layers = [self.inp] + [self.block] * times + [self.out]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = np.tanh(layer(x))
        return self.layers[-1](x)

    def params(self):
        return [p for layer in self.layers for p in (layer.W, layer.b)]


x = rng.uniform(-1, 1, size=(200, 3))
y = np.sin(3 * x[:, :1]) + x[:, 1:2] * x[:, 2:]
net = Network(24, 6)
for epoch in range(400):
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    params = net.params()
    for p in params:
        p.data -= 0.2 * p.grad
    for p in params:
        p.zero_grad()
    if epoch % 20 == 0 or epoch > 390:
        print(f"epoch {epoch}: {loss.item():.4f}")
