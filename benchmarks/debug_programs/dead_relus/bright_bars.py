"""Bars in pictures: is the bright bar horizontal or vertical?"""

import numpy as np

import nn
from nn.functional import relu


def bars(n, rng):
    pictures = 0.2 * rng.random((n, 6, 6))
    upright = rng.random(n) < 0.5
    for picture, up, k in zip(pictures, upright, rng.integers(0, 6, n)):
        if up:
            picture[:, k] += 0.7
        else:
            picture[k] += 0.7
    return pictures.reshape(n, 36).astype(np.float32), upright.astype(np.int64)


class BarNet(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(36, 32, rng=rng)
        self.hidden.bias.data[:] = -6.0
        self.out = nn.Affine(32, 2, rng=rng)

    def forward(self, x):
        return self.out(relu(self.hidden(x)))


rng = np.random.default_rng(61)
x, y = bars(600, rng)
model = BarNet(rng)
history = nn.fit(
    model,
    nn.Batches([x, y], 30, seed=2),
    lambda m, batch: nn.cross_entropy(m(batch[0]), batch[1]),
    nn.Adam(model.parameters(), lr=0.003),
    epochs=12,
    validate=lambda m: {"accuracy": (m(x).numpy().argmax(axis=1) == y).mean()},
    progress=False,
)
print("loss", [round(v, 4) for v in history.losses[::20]])
print("accuracy", [round(float(a), 3) for a in history.metric("accuracy")])
