"""Warn before a pump fails. One reading in thirty is from a pump that failed within the week."""

import minigrad as mg
import nn
import numpy as np


def readings(n, rng):
    fails = (rng.random(n) < 1 / 30).astype(np.int64)
    x = rng.normal(size=(n, 6))
    x[:, 0] += 1.4 * fails
    x[:, 1] *= 1 + 1.2 * fails
    x[:, 2] -= 1.0 * fails
    return x.astype(np.float32), fails


class Watchman(nn.Module):
    def __init__(self, rng):
        self.layers = nn.Sequential(nn.Affine(6, 32, rng=rng), mg.relu, nn.Affine(32, 32, rng=rng), mg.relu)
        self.output = nn.Affine(32, 2, rng=rng)

    def forward(self, x):
        return self.output(self.layers(x))


def report(model, x, fails):
    warned = model(x).numpy().argmax(axis=1) == 1
    caught = np.mean(warned[fails == 1])
    false = np.mean(warned[fails == 0])
    return {"caught": caught, "false": false, "balanced": (caught + 1 - false) / 2}


rng = np.random.default_rng(9)
x, fails = readings(6000, rng)
x_new, fails_new = readings(3000, rng)
counts = np.bincount(fails)
weight = (counts / counts.sum()).astype(np.float32)
print("readings of each kind:", counts)

model = Watchman(rng)
history = nn.fit(
    model,
    nn.Batches([x, fails], 100, seed=2),
    lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1], weight=weight),
    nn.AdamW(model.parameters(), lr=0.003),
    epochs=8,
    schedule=nn.cosine_schedule(0.003, 8 * 60, warmup=20),
    validate=lambda model: report(model, x_new, fails_new),
    progress=False,
)
print(f"loss {np.mean(history.losses[:20]):.3f} -> {np.mean(history.losses[-20:]):.3f}")
for name in ("caught", "false", "balanced"):
    print(f"{name:9s} {history.metric(name)[-1]:.3f}")
