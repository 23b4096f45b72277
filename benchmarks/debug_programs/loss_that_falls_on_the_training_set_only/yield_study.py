"""Is the harvest of a field good? From 20 soil values, most of which have no influence."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(17)
soil = rng.normal(size=(2400, 20)).astype(np.float32)
score = soil[:, 0] - 0.7 * soil[:, 1] + rng.normal(0, 0.7, 2400)
good = (score > 0).astype(np.int64)

KEEP, STEPS = 60, 500
train_soil, train_good = soil[:KEEP], good[:KEEP]
other_soil, other_good = soil[2000:], good[2000:]


class Field(nn.Module):
    def __init__(self, width, *, rng):
        self.a = nn.Affine(20, width, rng=rng)
        self.b = nn.Affine(width, width, rng=rng)
        self.c = nn.Affine(width, 2, rng=rng)

    def forward(self, x):
        return self.c(mg.relu(self.b(mg.relu(self.a(x)))))


def loss(model, batch):
    return nn.cross_entropy(model(batch[0]), batch[1])


def validate(model):
    logits = model(other_soil).numpy()
    right = np.mean(logits.argmax(axis=1) == other_good)
    return {"loss": nn.cross_entropy(logits, other_good).item(), "right": float(right)}


model = Field(96, rng=np.random.default_rng(0))
batches = nn.Batches([train_soil, train_good], 20, seed=0)
history = nn.fit(
    model,
    batches,
    loss,
    nn.Adam(model.parameters(), lr=0.002),
    epochs=STEPS // len(batches),
    validate=validate,
    progress=False,
)
shown = slice(None, None, max(1, len(history.metrics) // 10))
print("training", np.round(history.losses[::50], 3))
print("other fields", np.round(history.metric("loss")[shown], 3))
print("right", np.round(history.metric("right")[shown], 3))
