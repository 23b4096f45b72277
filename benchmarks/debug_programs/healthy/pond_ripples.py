"""Learn where a stone fell into a pond from eight gauges: random ripples that stay as they are, and a head."""

import minigrad as mg
import nn
import numpy as np

GAUGES = 8
angles = 2 * np.pi * np.arange(GAUGES) / GAUGES
gauges = np.column_stack([np.cos(angles), np.sin(angles)])


def stones(n, rng):
    place = rng.uniform(-0.8, 0.8, (n, 2))
    distance = np.sqrt(((place[:, None] - gauges) ** 2).sum(axis=-1))
    heard = np.exp(-distance) + rng.normal(0, 0.003, distance.shape)
    return heard.astype(np.float32), place.astype(np.float32)


class Pond(nn.Module):
    def __init__(self, mean, scale, rng):
        self.mean, self.scale = nn.Buffer(mean), nn.Buffer(scale)
        self.ripples = nn.Affine(GAUGES, 200, rng=rng)
        for p in self.ripples.parameters():
            p.requires_grad = False
        self.head = nn.Affine(200, 2, rng=rng)

    def forward(self, x):
        return self.head(np.tanh(self.ripples((x - self.mean) / self.scale)))


rng = np.random.default_rng(45)
x, place = stones(1500, rng)
x_new, place_new = stones(300, rng)
model = Pond(x.mean(axis=0), x.std(axis=0), rng)
learned = [p for p in model.parameters() if p.requires_grad]
optimizer = nn.Adam(learned, lr=0.003)
for step in range(600):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(x), place)
    loss.backward()
    optimizer.step()
    if step % 150 == 0:
        print(f"step {step:3d}  loss {loss.item():.5f}")
with mg.no_grad():
    miss = model(x_new).numpy() - place_new
print(f"off by {np.sqrt((miss**2).sum(axis=1).mean()):.3f}, places vary by {place_new.std():.3f}")
