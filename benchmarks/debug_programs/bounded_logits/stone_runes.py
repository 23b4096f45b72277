"""Reads runes from rubbings of stones: 32 signs, each rubbing as the strokes in 30 cells of a grid."""

import numpy as np

import minigrad as mg
import nn

SIGNS, CELLS = 32, 30


def rubbings(count, strokes, rng):
    sign = rng.integers(SIGNS, size=count)
    faint = rng.uniform(0.5, 1.0, size=(count, 1))
    cells = strokes[sign] * faint + rng.normal(0, 0.28, size=(count, CELLS))
    return cells.astype(np.float32), sign


class Reader(nn.Module):
    def __init__(self, widths, rng):
        self.layers = [nn.Affine(a, b, rng=rng) for a, b in zip(widths, widths[1:])]

    def forward(self, x):
        for layer in self.layers:
            x = np.tanh(layer(x))
        return x


def loss(model, batch):
    cells, sign = batch
    return nn.cross_entropy(model(cells), sign)


def report(model, cells, sign):
    model.eval()
    with mg.no_grad():
        chance = mg.softmax(model(cells)).numpy()
    own = chance[np.arange(len(sign)), sign]
    print(f"surprise {-np.log(own).mean():.2f} (guessing: {np.log(SIGNS):.2f})")
    print(f"the right sign first: {np.mean(chance.argmax(axis=1) == sign):.2f}, with a chance above a half: {np.mean(own > 0.5):.2f}")


rng = np.random.default_rng(12)
strokes = (rng.random((SIGNS, CELLS)) < 0.3).astype(float)
cells, sign = rubbings(1600, strokes, rng)
model = Reader([CELLS, 64, SIGNS], np.random.default_rng(0))
batches = nn.Batches([cells[:1200], sign[:1200]], 40, seed=8)
history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.01), epochs=15, progress=False)
print(f"loss {history.losses[0]:.2f} ... {history.losses[-1]:.2f}")
report(model, cells[1200:], sign[1200:])
