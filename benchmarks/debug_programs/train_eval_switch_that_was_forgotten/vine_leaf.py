"""Healthy and blighted vine leaves from four spectral bands; the test rows are those of two vineyards."""
import numpy as np

import minigrad as mg
import nn


class LeafNet(nn.Module):
    def __init__(self, bands, width, *, rng):
        self.first = nn.Affine(bands, width, rng=rng)
        self.norm = nn.BatchNorm(width)
        self.second = nn.Affine(width, width, rng=rng)
        self.norm2 = nn.BatchNorm(width)
        self.last = nn.Affine(width, 2, rng=rng)

    def forward(self, x):
        x = mg.relu(self.norm(self.first(x)))
        x = mg.relu(self.norm2(self.second(x)))
        return self.last(x)


def leaves(blighted, rng):
    shift = np.where(blighted[:, None], [0.9, -0.6, 0.3, 0.0], 0.0)
    return (shift + rng.normal(0, 0.45, (len(blighted), 4))).astype(np.float32)


def train(model, x, y, epochs=12):
    optimizer = nn.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(epochs):
        mean = 0.0
        batches = nn.Batches([x, y], 50, seed=6)
        for leaf, sick in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(leaf), sick)
            loss.backward()
            optimizer.step()
            mean += loss.item() / len(batches)
        print(f"epoch {epoch:2d} loss {mean:.4f}")


rng = np.random.default_rng(14)
sick = rng.integers(2, size=1500)
model = LeafNet(4, 24, rng=rng)
train(model, leaves(sick, rng), sick)

right = []
for vineyard, state in (("north slope", 0), ("by the river", 1)):
    truth = np.full(120, state)
    with mg.no_grad():
        answer = model(leaves(truth, rng)).numpy().argmax(axis=1)
    right.append(np.mean(answer == truth))
    print(f"{vineyard}: {right[-1]:.3f} right")
print(f"together {np.mean(right):.3f}")
