"""In which of four quarters of the sky does a galaxy lie?  Its position is in metres, from us."""
import numpy as np

import minigrad as mg
import nn

MEGAPARSEC = 3.086e22
rng = np.random.default_rng(19)


def catalogue(n):
    towards = rng.normal(size=(n, 3))
    distance = rng.uniform(5, 200, (n, 1)) * MEGAPARSEC
    position = distance * towards / np.linalg.norm(towards, axis=1, keepdims=True)
    quarter = 2 * (towards[:, 0] > 0) + (towards[:, 1] * towards[:, 2] > 0)
    return position.astype(np.float32), quarter.astype(np.int64)


class Sky(nn.Module):
    def __init__(self, rng):
        self.stretch = nn.Parameter(np.ones(3, np.float32))
        self.hidden = nn.Affine(3, 24, rng=rng)
        self.quarter = nn.Affine(24, 4, rng=rng)

    def direction(self, position):
        seen = position * self.stretch
        length = np.sqrt((seen ** 2).sum(axis=1, keepdims=True))
        return seen / length

    def forward(self, position):
        return self.quarter(mg.relu(self.hidden(self.direction(position))))


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


position, quarter = catalogue(400)
model = Sky(np.random.default_rng(1))
history = nn.fit(
    model, nn.Batches([position, quarter], 40, seed=3), loss, nn.Adam(model.parameters(), lr=0.02),
    epochs=25, progress=False,
)
print("loss", np.round(history.losses[::50], 3), round(history.losses[-1], 3))
new, truth = catalogue(300)
with mg.no_grad():
    print("right", np.mean(model(new).numpy().argmax(axis=1) == truth).round(3))
