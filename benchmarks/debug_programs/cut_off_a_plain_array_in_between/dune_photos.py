"""Photographs of sand, 12 x 12: are the ripples straight, crossed or rings?"""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(19)


def photo(kind):
    y, x = np.mgrid[0:12, 0:12] - 5.5 + rng.normal(0, 1.5, 2)[:, None, None]
    turn, phase = rng.uniform(0, np.pi), rng.uniform(0, 2 * np.pi)
    along = np.cos(turn) * x + np.sin(turn) * y
    across = -np.sin(turn) * x + np.cos(turn) * y
    if kind == 0:
        sand = np.sin(1.6 * along + phase)
    elif kind == 1:
        sand = np.sin(1.6 * along + phase) * np.sin(1.6 * across)
    else:
        sand = np.sin(1.6 * np.hypot(x, y) + phase)
    return sand + rng.normal(0, 0.5, (12, 12))


def album(count):
    kinds = rng.integers(0, 3, count)
    return np.stack([photo(k) for k in kinds])[:, None].astype(np.float32), kinds


class Eye(nn.Module):
    def __init__(self):
        self.low = nn.Conv2d(1, 4, 3, rng=rng)
        self.high = nn.Conv2d(4, 8, 3, rng=rng)
        self.pool = nn.MaxPool2d(2)
        self.judge = nn.Affine(8, 3, rng=rng)

    def features(self, photos):
        h = self.pool(mg.relu(self.low(photos)))
        h = mg.relu(self.high(h))
        maps = h.numpy()
        return maps.reshape(len(maps), 8, -1).max(axis=2)

    def forward(self, photos):
        return self.judge(self.features(photos))


photos, kinds = album(360)
others, truth = album(200)
eye = Eye()
optimizer = nn.Adam(eye.parameters(), lr=0.01)
for epoch in range(20):
    order, losses = rng.permutation(360), []
    for part in np.split(order, 12):
        optimizer.zero_grad()
        loss = nn.cross_entropy(eye(photos[part]), kinds[part])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
right = np.mean(eye(others).numpy().argmax(axis=1) == truth)
print(f"loss {np.mean(losses):.3f}, right on other photographs {right:.3f}")
