import numpy as np
import nn
from minigrad import sigmoid

g = np.random.default_rng(37)
k = g.integers(0, 2, 400)
r = g.uniform(0.3, 2.0, 400)
phi = 2.0 * r + np.pi * k
xy = (np.stack([r * np.cos(phi), r * np.sin(phi)], axis=1) + 0.03 * g.normal(size=(400, 2))).astype(np.float32)


class Tower(nn.Module):
    """Ten layers of the same width."""

    def __init__(self, width=16, depth=10):
        self.entry = nn.Affine(2, width, rng=g)
        self.floors = [nn.Affine(width, width, rng=g) for _ in range(depth)]
        self.roof = nn.Affine(width, 2, rng=g)

    def forward(self, x):
        x = sigmoid(self.entry(x))
        for floor in self.floors:
            x = sigmoid(floor(x))
        return self.roof(x)


tower = Tower()
sgd = nn.SGD(tower.parameters(), lr=0.05, momentum=0.9)
batches = nn.Batches([xy, k], 40, seed=12)
for epoch in range(60):
    run = []
    for x, label in batches.epoch(epoch):
        sgd.zero_grad()
        loss = nn.cross_entropy(tower(x), label)
        loss.backward()
        sgd.step()
        run.append(loss.item())
    if epoch % 12 == 11:
        print(f"epoch {epoch + 1:3d}  loss {np.mean(run):.4f}")
print("accuracy", (tower(xy).numpy().argmax(1) == k).mean())
