"""A fixed random lens of 200 features, and a reader that is trained on what the lens shows."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(81)
place = rng.uniform(-2, 2, (500, 2)).astype(np.float32)
depth = (np.sin(2 * place[:, 0]) * np.cos(place[:, 1]) + rng.normal(0, 0.03, 500)).astype(np.float32)[:, None]


class Lens(nn.Module):
    def __init__(self, width, *, rng):
        self.project = nn.Affine(2, width, rng=rng)
        self.project.weight.data = rng.normal(0, 1.2, (2, width)).astype(np.float32)
        self.project.bias.data = rng.uniform(-3, 3, width).astype(np.float32)
        self.read = nn.Affine(width, 1, rng=rng)
        for p in self.project.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.read(mg.relu(self.project(x)))


lens = Lens(200, rng=np.random.default_rng(0))
optimizer = nn.Adam(lens.read.parameters(), lr=0.01)
schedule = nn.cosine_schedule(0.01, 1000)
picker = np.random.default_rng(1)
before = lens.project.weight.numpy().copy()
for step in range(1000):
    rows = picker.integers(0, 400, 64)
    optimizer.zero_grad()
    loss = nn.mean_squared_error(lens(place[rows]), depth[rows])
    loss.backward()
    optimizer.lr = schedule(step)
    optimizer.step()
    if step % 200 == 0:
        print(f"{step:4d} {loss.item():.4f}")

print("the lens is unchanged:", np.array_equal(before, lens.project.weight.numpy()))
print("error", nn.mean_squared_error(lens(place[400:]), depth[400:]).item(), "variance", depth[400:].var())
