"""Estimate the parallax of stars, in seconds of arc, from their colour and brightness.

The catalogue gives the error of each parallax in radians.
"""

import nn
import numpy as np


def catalogue(n, rng):
    colour = rng.uniform(-0.5, 2.0, n)
    brightness = rng.uniform(4, 12, n)
    absolute = 1.5 + 4.0 * colour - 0.5 * colour**2
    parallax = 10 ** ((absolute - brightness) / 5 - 1)
    error = rng.uniform(0.8, 1.6, n) * 1e-11
    measured = parallax + rng.normal(0, 1, n) * error * 206265
    x = np.column_stack([colour - 0.75, (brightness - 8) / 2])
    return x.astype(np.float32), measured.astype(np.float32), error.astype(np.float32)


class Distance(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(2, 48, rng=rng)
        self.second = nn.Affine(48, 48, rng=rng)
        self.output = nn.Affine(48, 1, rng=rng)

    def forward(self, x):
        h = np.tanh(self.second(np.tanh(self.hidden(x))))
        return self.output(h)[:, 0]


def misfit(model, batch):
    x, measured, error = batch
    return (((model(x) - measured) / error) ** 2).mean()


rng = np.random.default_rng(64)
x, measured, error = catalogue(1500, rng)
x_new, measured_new, error_new = catalogue(400, rng)
sigma = error
model = Distance(rng)
history = nn.fit(
    model,
    nn.Batches([x, measured, sigma], 50, seed=0),
    misfit,
    nn.Adam(model.parameters(), lr=0.005),
    epochs=20,
    schedule=nn.cosine_schedule(0.005, 20 * 30),
    progress=False,
)
for epoch in range(0, 20, 5):
    print(f"epoch {epoch + 1:2d}  misfit {np.mean(history.losses[30 * epoch : 30 * epoch + 30]):.3g}")
miss = model(x_new).numpy() - measured_new
print(f"typical error {np.sqrt(np.mean(miss**2)):.4f}'', spread of the parallaxes {measured_new.std():.4f}''")
