"""Classify signals by their strongest frequency."""

import numpy as np

import nn
from minigrad import Tensor, relu


class SignalNet(nn.Module):
    def __init__(self, rng):
        self.filters = nn.Affine(32, 8, rng=rng)
        self.hidden = nn.Affine(8, 24, rng=rng)
        self.out = nn.Affine(24, 4, rng=rng)

    def standardise(self, t):
        values = t.numpy()
        return (values - values.mean(axis=0)) / (values.std(axis=0) + 1e-5)

    def forward(self, x):
        features = self.standardise(relu(self.filters(x)))
        h = relu(self.hidden(Tensor(features)))
        return self.out(h)


rng = np.random.default_rng(25)
label = rng.integers(0, 4, 640)
time = np.arange(32) / 32
wave = np.sin(2 * np.pi * (label[:, None] + 1) * time + rng.uniform(0, 2 * np.pi, (640, 1)))
signals = (wave + 0.4 * rng.normal(size=(640, 32))).astype(np.float32)

model = SignalNet(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch, batches in enumerate([nn.Batches([signals, label], 64, seed=5)] * 20):
    for x, y in batches.epoch(epoch):
        loss = nn.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 3:
        accuracy = (model(signals).numpy().argmax(axis=1) == label).mean()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, accuracy {accuracy:.3f}")
