"""Attention pooling over recordings of different lengths that share one buffer."""

import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(23)
LONGEST, CHANNELS = 12, 4


def recordings(count):
    earlier = rng.integers(0, 2, (count, 1, 1)) - 0.5
    buffer = (rng.normal(0, 0.7, (count, LONGEST, CHANNELS)) + earlier).astype(np.float32)
    lengths = rng.integers(2, 6, count)
    label = rng.integers(0, 2, count)
    for row, n in enumerate(lengths):
        buffer[row, :n] = rng.normal(0, 0.7, (n, CHANNELS)) + (label[row] - 0.5)
    return buffer, lengths, label


class Pool(nn.Module):
    def __init__(self, rng):
        self.project = nn.Affine(CHANNELS, 16, rng=rng)
        self.score = nn.Affine(16, 1, rng=rng)
        self.output = nn.Affine(16, 2, rng=rng)

    def forward(self, x, lengths):
        h = np.tanh(self.project(x))
        mask = np.arange(x.shape[1])[None, :] < np.full((len(lengths), 1), x.shape[1])
        score = np.where(mask, self.score(h)[:, :, 0], -1e9)
        weight = mg.softmax(score, axis=-1)
        return self.output((h * weight[:, :, None]).sum(axis=1))


model = Pool(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for step in range(500):
    x, lengths, label = recordings(32)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(x, lengths), label)
    loss.backward()
    optimizer.step()

x, lengths, label = recordings(500)
print("loss", round(loss.item(), 3), "accuracy", (model(x, lengths).numpy().argmax(axis=1) == label).mean())
