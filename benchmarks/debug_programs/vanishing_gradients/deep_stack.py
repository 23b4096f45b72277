"""A tall network on a spiral of two arms."""

import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(6)
t = rng.uniform(0.5, 3.0, 240)
arm = rng.integers(0, 2, 240)
spiral = np.stack([t * np.cos(2 * t + np.pi * arm), t * np.sin(2 * t + np.pi * arm)], axis=1).astype(np.float32)


class Tall(nn.Module):
    def __init__(self, depth, width, rng):
        sizes = [2] + [width] * depth
        self.layers = [nn.Affine(a, b, rng=rng) for a, b in zip(sizes[:-1], sizes[1:])]
        self.output = nn.Affine(width, 2, rng=rng)

    def forward(self, x):
        for layer in self.layers:
            x = mg.sigmoid(layer(x))
        return self.output(x)


model = Tall(10, 16, rng)
optimizer = nn.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(500):
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(spiral), arm)
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        right = (model(spiral).numpy().argmax(axis=1) == arm).mean()
        print(f"{step + 1}: loss {loss.item():.4f} accuracy {right:.2f}")
