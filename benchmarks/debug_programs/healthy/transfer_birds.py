"""Pretrain on ten common birds, then teach three rare ones with the trunk frozen."""
import numpy as np
import nn
from minigrad import relu

rng = np.random.default_rng(105)
mixing = rng.normal(size=(6, 24))


def songs(prototypes, n):
    kind = rng.integers(0, len(prototypes), n)
    hidden = prototypes[kind] + 0.35 * rng.normal(size=(n, 6))
    return (np.tanh(hidden @ mixing) + 0.1 * rng.normal(size=(n, 24))).astype(np.float32), kind


class Ear(nn.Module):
    def __init__(self, classes):
        self.trunk = nn.Sequential(nn.Affine(24, 48, rng=rng), relu, nn.Affine(48, 16, rng=rng), relu)
        self.head = nn.Affine(16, classes, rng=rng)

    def forward(self, x):
        return self.head(self.trunk(x))


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


common, rare = rng.normal(size=(10, 6)) * 1.2, rng.normal(size=(3, 6)) * 1.2
x, kind = songs(common, 600)
ear = Ear(10)
first = nn.fit(ear, nn.Batches([x, kind], 50, seed=1), loss, nn.Adam(ear.parameters(), lr=0.005), epochs=15, progress=False)
print("common birds:", round(first.losses[0], 3), "->", round(first.losses[-1], 3))

for p in ear.trunk.parameters():
    p.requires_grad = False
ear.head = nn.Affine(16, 3, rng=rng)
x, kind = songs(rare, 60)
second = nn.fit(ear, nn.Batches([x, kind], 15, seed=2), loss, nn.Adam(ear.head.parameters(), lr=0.03), epochs=20, progress=False)
x, kind = songs(rare, 300)
print("rare birds:", round(second.losses[0], 3), "->", round(second.losses[-1], 3), "accuracy", (ear(x).numpy().argmax(1) == kind).mean())
