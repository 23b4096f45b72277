"""Two spirals, and a tall tower of layers."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(8)


def spirals(count):
    label = rng.integers(0, 2, count)
    t = rng.uniform(0.3, 2.2, count)
    angle = 2.5 * t + np.pi * label
    return np.stack([t * np.cos(angle), t * np.sin(angle)], axis=1) + 0.04 * rng.normal(size=(count, 2)), label


class Layer:
    def __init__(self, inputs, outputs):
        self.W = Tensor(rng.normal(size=(inputs, outputs)) * 0.05, requires_grad=True)
        self.b = Tensor(np.zeros(outputs), requires_grad=True)

    def __call__(self, x):
        return x @ self.W + self.b


class Tower:
    def __init__(self, depth=10, width=20):
        self.layers = [Layer(2, width)] + [Layer(width, width) for _ in range(depth - 1)]
        self.head = Layer(width, 1)

    def __call__(self, x):
        for layer in self.layers:
            x = np.tanh(layer(x))
        return self.head(x)[:, 0]

    def parameters(self):
        return [p for layer in [*self.layers, self.head] for p in (layer.W, layer.b)]


x, y = spirals(400)
sign = 2.0 * y - 1
tower = Tower()
for step in range(400):
    loss = np.log1p(np.exp(-sign * tower(x))).mean()
    loss.backward()
    for p in tower.parameters():
        p.data -= 0.2 * p.grad
        p.zero_grad()
    if step % 100 == 0:
        print(f"{step:4d} loss {loss.item():.4f}")
print(f"loss {loss.item():.4f}, accuracy {np.mean((tower(x).numpy() > 0) == y):.3f}")
