"""Fit a curve with bumps of the form 1 / (1 + z^2), whose places and widths are learned."""

import numpy as np

import minigrad as mg

bump = mg.primitive(lambda z: 1 / (1 + z * z), name="bump").vjp(z=lambda g, ans, z: g * 2 * z * ans * ans)

rng = np.random.default_rng(7)
x = np.linspace(-4, 4, 160)
curve = 1.5 / (1 + ((x - 2.2) / 0.5) ** 2) - 1.0 / (1 + ((x + 1.7) / 0.8) ** 2)
y = curve + rng.normal(0, 0.02, x.shape)


class Bumps:
    def __init__(self, count):
        self.place = mg.Tensor(np.linspace(-3, 3, count), requires_grad=True)
        self.width = mg.Tensor(np.ones(count), requires_grad=True)
        self.height = mg.Tensor(np.zeros(count), requires_grad=True)

    def parameters(self):
        return [self.place, self.width, self.height]

    def __call__(self, x):
        z = (x[:, None] - self.place) * self.width
        return bump(z) @ self.height


model = Bumps(4)
for step in range(1500):
    loss = np.mean((model(x) - y) ** 2)
    loss.backward()
    for p in model.parameters():
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if step % 250 == 0:
        print(f"step {step}: {loss.item():.5f}")
print(f"at the end: {np.mean((model(x).numpy() - curve) ** 2):.5f}")
print("places", model.place.numpy().round(2))
print("heights", model.height.numpy().round(2))
