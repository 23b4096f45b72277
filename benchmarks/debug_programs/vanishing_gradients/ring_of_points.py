"""Which of two rings does a point lie on?"""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(6)
angle = rng.uniform(0, 2 * np.pi, 480)
label = rng.integers(0, 2, 480)
radius = np.where(label == 1, 2.0, 1.0) + rng.normal(0, 0.12, 480)
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)


class Tower(nn.Module):
    def __init__(self, width, depth, *, rng):
        self.first = nn.Affine(2, width, rng=rng)
        self.middle = [nn.Affine(width, width, rng=rng) for _ in range(depth)]
        self.last = nn.Affine(width, 2, rng=rng)

    def forward(self, x):
        x = mg.sigmoid(self.first(x))
        for layer in self.middle:
            x = mg.sigmoid(layer(x))
        return self.last(x)


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


def validate(model):
    return {"accuracy": float(np.mean(model(points[400:]).numpy().argmax(axis=1) == label[400:]))}


model = Tower(16, 9, rng=np.random.default_rng(0))
batches = nn.Batches([points[:400], label[:400]], 40, seed=1)
optimizer = nn.SGD(model.parameters(), lr=0.5)
history = nn.fit(model, batches, loss, optimizer, epochs=40, validate=validate, progress=False)
print("loss", [round(value, 3) for value in history.losses[::50]])
print("accuracy", [round(value, 2) for value in history.metric("accuracy")[::5]])
print("at the end", history.metric("accuracy")[-1])
