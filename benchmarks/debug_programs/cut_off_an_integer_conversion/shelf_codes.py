"""Compress eight sensor readings to two codes with sixteen levels each, and restore them."""

import numpy as np

import nn

rng = np.random.default_rng(3)
hidden_causes = rng.uniform(-1, 1, (600, 2))
mixing = rng.normal(size=(2, 8))
readings = np.sin(hidden_causes @ mixing).astype(np.float32)


class Coder(nn.Module):
    def __init__(self, rng):
        self.squeeze = nn.Sequential(nn.Affine(8, 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng), np.tanh)
        self.restore = nn.Sequential(nn.Affine(2, 24, rng=rng), np.tanh, nn.Affine(24, 8, rng=rng))

    def forward(self, x):
        code = self.squeeze(x)
        level = (code * 8).astype(np.int64)
        return self.restore(level.astype(np.float32) / 8)


def loss(model, batch):
    (x,) = batch
    return nn.mean_squared_error(model(x), x)


def validate(model):
    return {"error": float(np.mean((model(readings[500:]).numpy() - readings[500:]) ** 2))}


model = Coder(rng)
batches = nn.Batches([readings[:500]], 50, seed=1)
history = nn.fit(
    model, batches, loss, nn.Adam(model.parameters(), lr=0.01), epochs=60, validate=validate, progress=False
)
errors = history.metric("error")
print("error after each tenth epoch:", np.round(errors[::10], 4).tolist())
print("last:", round(errors[-1], 4), " variance of the readings:", round(float(readings.var()), 4))
