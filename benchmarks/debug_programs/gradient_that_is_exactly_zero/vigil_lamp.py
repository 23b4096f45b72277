# A lighthouse keeper reads six gauges in the night. One of them has the brass mark, and only its value is wanted.
import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(5)
NIGHTS, GAUGES = 1200, 6


def nights(n):
    value = rng.normal(size=(n, GAUGES))
    marked = rng.integers(GAUGES, size=n)
    mark = np.eye(GAUGES)[marked] + rng.normal(0, 0.05, (n, GAUGES))
    readings = np.stack([value, mark], axis=-1).astype(np.float32)
    return readings, value[np.arange(n), marked, None].astype(np.float32)


class Keeper(nn.Module):
    def __init__(self, width, *, rng):
        self.look = nn.Affine(2, width, rng=rng)
        self.judge = nn.Affine(width, 1, rng=rng)
        self.value = nn.Affine(2, width, rng=rng)
        self.output = nn.Affine(width, 1, rng=rng)

    def forward(self, readings):
        judged = self.judge(np.tanh(self.look(readings)))
        weight = mg.softmax(judged, axis=-1)
        found = (weight * self.value(readings)).sum(axis=1)
        return self.output(found)


def loss(model, batch):
    readings, wanted = batch
    return nn.mean_squared_error(model(readings), wanted)


x, y = nights(NIGHTS)
test_x, test_y = nights(300)
keeper = Keeper(12, rng=rng)
history = nn.fit(keeper, nn.Batches([x, y], 40, seed=2), loss, nn.Adam(keeper.parameters(), lr=0.01),
                 epochs=30, progress=False)
print(f"first loss {history.losses[0]:.3f}, last loss {np.mean(history.losses[-30:]):.4f}")
print(f"error on new nights {loss(keeper, (test_x, test_y)).item():.4f}")
