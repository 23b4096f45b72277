import numpy as np

import minigrad as mg
from minigrad import Tensor

rng = np.random.default_rng(19)

# a bump function for radial networks, with a rule that reuses the result
bump = mg.primitive(lambda r: np.exp(-r * r), name="bump").vjp(
    r=lambda g, ans, r: g * 2 * r * ans,
)


class RadialNet:
    def __init__(self, count):
        self.centres = Tensor(rng.uniform(-2, 2, (count, 1)), requires_grad=True, name="centres")
        self.widths = Tensor(np.full(count, 1.0), requires_grad=True, name="widths")
        self.heights = Tensor(rng.normal(0, 0.3, count), requires_grad=True, name="heights")

    @property
    def weights(self):
        return [self.centres, self.widths, self.heights]

    def __call__(self, x):
        r = (x - self.centres[:, 0]) * self.widths
        return bump(r) @ self.heights


x = rng.uniform(-3, 3, (250, 1))
height = np.sin(2 * x[:, 0]) * np.exp(-0.1 * x[:, 0] ** 2)
net = RadialNet(6)
for step in range(1500):
    loss = ((net(x) - height) ** 2).mean()
    loss.backward()
    for w in net.weights:
        w.data -= 0.1 * np.clip(w.grad.numpy(), -1, 1)
        w.zero_grad()
    if step % 250 == 0:
        print(f"{step:5d}  {loss.item():.4f}")

grid = np.linspace(-3, 3, 61)[:, None]
gap = np.abs(net(grid).numpy() - np.sin(2 * grid[:, 0]) * np.exp(-0.1 * grid[:, 0] ** 2))
print("largest gap on the grid:", gap.max().round(3))
print("centres:", np.sort(net.centres.numpy()[:, 0]).round(2))
