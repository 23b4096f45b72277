"""A lamp with two switches: it shines if exactly one of them is on."""

import numpy as np

import nn


class Lamp(nn.Module):
    def __init__(self, units):
        self.w1 = nn.Parameter(np.full((2, units), 0.3, np.float32))
        self.b1 = nn.Parameter(np.zeros(units, np.float32))
        self.w2 = nn.Parameter(np.full((units, 1), 0.3, np.float32))
        self.b2 = nn.Parameter(np.zeros(1, np.float32))

    def forward(self, switches):
        h = np.tanh(switches @ self.w1 + self.b1)
        return h @ self.w2 + self.b2


rng = np.random.default_rng(56)
on = rng.integers(0, 2, (400, 2))
shines = (on[:, :1] != on[:, 1:]).astype(np.float32)
switches = (2.0 * on - 1 + rng.normal(0, 0.2, (400, 2))).astype(np.float32)

lamp = Lamp(12)
optimizer = nn.SGD(lamp.parameters(), lr=0.1, momentum=0.9)
for epoch in range(60):
    order = rng.permutation(300)
    for k in range(0, 300, 25):
        rows = order[k : k + 25]
        optimizer.zero_grad()
        loss = nn.binary_cross_entropy_with_logits(lamp(switches[rows]), shines[rows])
        loss.backward()
        optimizer.step()
    if epoch % 12 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item():.4f}")

right = (lamp(switches[300:]).numpy() > 0) == (shines[300:] > 0.5)
print("right:", right.mean().round(3))
