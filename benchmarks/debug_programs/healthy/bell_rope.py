"""Sums over ropes of very different length: most places of a batch are empty, and masked."""
import numpy as np
import minigrad as mg
import nn

LONGEST = 30
rng = np.random.default_rng(48)
value = np.array([0.0, 0.5, -0.5, 1.0, -1.0, 0.25], np.float32)


def ropes(count):
    size = rng.integers(1, 7, count)
    knots = rng.integers(1, 6, (count, LONGEST))
    knots[np.arange(LONGEST) >= size[:, None]] = 0
    return knots, np.arange(LONGEST) < size[:, None]


class Rope(nn.Module):
    def __init__(self, width=12):
        self.knot = nn.Embedding(6, width, rng=rng, padding_idx=0)
        self.guess = nn.Sequential(nn.Affine(width, 16, rng=rng), np.tanh, nn.Affine(16, 1, rng=rng))

    def forward(self, knots, mask):
        return self.guess(nn.pool(self.knot(knots), mask))[:, 0]


knots, mask = ropes(500)
mean = value[knots].sum(axis=1) / mask.sum(axis=1)
print(f"empty places: {1 - mask.mean():.2f}")
rope = Rope()
adam = nn.Adam(rope.parameters(), lr=0.01)
for epoch in range(15):
    for rows in np.array_split(rng.permutation(400), 20):
        adam.zero_grad()
        loss = nn.mean_squared_error(rope(knots[rows], mask[rows]), mean[rows])
        loss.backward()
        adam.step()
rope.eval()
with mg.no_grad():
    error = nn.mean_squared_error(rope(knots[400:], mask[400:]), mean[400:]).item()
print(f"loss {loss.item():.4f}, on other ropes {error:.4f}, variance {mean.var():.3f}")
