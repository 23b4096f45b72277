"""A wide rectified network for a steep curve. Many units stay silent on this interval."""

import numpy as np

import minigrad as mg
import nn


class Curve(nn.Module):
    def __init__(self, width, rng):
        self.spread = nn.Affine(1, width, rng=rng)
        self.spread.weight.data[:] = rng.choice([-1.0, 1.0], (1, width))
        self.spread.bias.data[:] = rng.uniform(-3, 1, width)
        self.collect = nn.Affine(width, 1, rng=rng)

    def hidden(self, x):
        return mg.relu(self.spread(x))

    def forward(self, x):
        return self.collect(self.hidden(x))


rng = np.random.default_rng(67)
x = rng.uniform(-1, 1, (500, 1)).astype(np.float32)
y = np.abs(x) - 0.5 * np.sign(x - 0.3) * (x - 0.3) ** 2

curve = Curve(128, rng)
silent = (curve.hidden(x).numpy() == 0).all(axis=0)
print("silent units:", silent.sum(), "of", silent.size)


def loss(model, batch):
    inputs, targets = batch
    return nn.mean_squared_error(model(inputs), targets)


batches = nn.Batches([x[:400], y[:400]], 40, seed=5)
optimizer = nn.Adam(curve.parameters(), lr=0.01)
history = nn.fit(curve, batches, loss, optimizer, epochs=50, schedule=nn.cosine_schedule(0.01, 500), progress=False)
for k in range(0, 500, 100):
    print(k, round(float(np.mean(history.losses[k : k + 10])), 6))
print("unseen:", nn.mean_squared_error(curve(x[400:]), y[400:]).item(), "variance:", float(y.var()))
