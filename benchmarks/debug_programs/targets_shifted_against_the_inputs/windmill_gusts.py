"""Tell gusts at a windmill from the jumps of three gauges between two readings."""

import nn
import numpy as np

N = 2400
rng = np.random.default_rng(21)
gust = rng.random(N) < 0.35
effect = np.array([0.9, -0.6, 0.4])
gauges = np.cumsum(gust[:, None] * effect + rng.normal(0, 0.25, (N, 3)), axis=0)

jumps = np.diff(gauges, axis=0).astype(np.float32)
labels = gust[:-1].astype(np.int64)
cut = 1800


class Detector(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(3, 16, rng=rng)
        self.output = nn.Affine(16, 2, rng=rng)

    def forward(self, x):
        return self.output(np.tanh(self.hidden(x)))


def loss(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x), y)


def validate(model):
    guess = model(jumps[cut:]).numpy().argmax(axis=1)
    return {"accuracy": np.mean(guess == labels[cut:])}


model = Detector(np.random.default_rng(0))
history = nn.fit(
    model,
    nn.Batches([jumps[:cut], labels[:cut]], 50, seed=0),
    loss,
    nn.Adam(model.parameters(), lr=0.01),
    epochs=15,
    validate=validate,
    progress=False,
)
print("loss by epoch:", np.reshape(history.losses, (15, -1)).mean(axis=1).round(3)[::3])
print("accuracy by epoch:", np.round(history.metric("accuracy"), 3)[::3])
