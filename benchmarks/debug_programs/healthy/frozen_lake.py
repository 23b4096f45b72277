import numpy as np

import nn

rng = np.random.default_rng(63)
x = rng.uniform(-1, 1, (700, 2)).astype(np.float32)
depth = (np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1]))[:, None].astype(np.float32)


class Lake(nn.Module):
    """A wide layer that keeps its first weights, and a trained one that reads it."""

    def __init__(self, width, rng):
        self.features = nn.Affine(2, width, rng=rng)
        self.features.weight.data[:] = rng.normal(0, 2.0, (2, width))
        self.features.bias.data[:] = rng.uniform(-2, 2, width)
        self.read = nn.Affine(width, 1, rng=rng)

    def forward(self, x):
        return self.read(np.tanh(self.features(x)).detach())


lake = Lake(200, rng)
optimizer = nn.Adam(lake.read.parameters(), lr=0.01)
batches = nn.Batches([x[:600], depth[:600]], 50, seed=1)
for epoch in range(40):
    for place, metres in batches.epoch(epoch):
        lake.zero_grad()
        loss = nn.mean_squared_error(lake(place), metres)
        loss.backward()
        optimizer.step()
    if epoch % 8 == 0:
        print(f"epoch {epoch:2d}  {loss.item():.5f}")

test = nn.mean_squared_error(lake(x[600:]), depth[600:]).item()
print(f"unseen places: {test:.5f} of {depth.var():.3f}")
