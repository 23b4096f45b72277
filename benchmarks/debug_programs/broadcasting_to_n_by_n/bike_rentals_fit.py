"""Rentals of bikes by hour and weather, with nn.fit."""

import numpy as np

import nn


class Rentals(nn.Module):
    def __init__(self, rng):
        self.layers = nn.Sequential(
            nn.Affine(4, 32, rng=rng), nn.functional.gelu, nn.Affine(32, 32, rng=rng), nn.functional.gelu
        )
        self.output = nn.Affine(32, 1, rng=rng)

    def forward(self, x):
        return self.output(self.layers(x))


def loss(model, batch):
    x, rentals = batch
    difference = model(x) - rentals
    return np.abs(difference).mean()


rng = np.random.default_rng(126)
hour, rain = rng.uniform(0, 24, 1000), rng.random(1000) < 0.3
warm = rng.normal(size=1000)
rentals = (2 + np.sin((hour - 9) * np.pi / 12) + 0.4 * warm) * np.where(rain, 0.4, 1.0)
x = np.stack([np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12), rain, warm], axis=1).astype(np.float32)
y = rentals.astype(np.float32)
model = Rentals(rng)
history = nn.fit(
    model,
    nn.Batches([x[:800], y[:800]], 40, seed=1),
    loss,
    nn.Adam(model.parameters(), lr=0.005),
    epochs=10,
    validate=lambda m: {"mean absolute error": np.abs(m(x[800:]).numpy()[:, 0] - y[800:]).mean()},
    progress=False,
)
print([round(float(np.mean(history.losses[i : i + 20])), 3) for i in range(0, 200, 20)])
print([round(float(m), 3) for m in history.metric("mean absolute error")])
print("always the median:", np.abs(np.median(y) - y[800:]).mean().round(3))
