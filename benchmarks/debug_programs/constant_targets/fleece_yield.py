"""How much clean wool is in a fleece? The mill weighs each one before and after the wash."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(40)
N = 1000
breed = rng.integers(3, size=N)
rain = rng.gamma(2.0, 1.0, N)                                   # weeks of rain before shearing
fibre = np.array([19.0, 26.0, 33.0])[breed] + rng.normal(0, 1.5, N)           # micrometres
burrs = rng.poisson(4, N)
greasy = rng.integers(2200, 5200, N)                            # grams
share = 0.42 + 0.008 * (fibre - 19) + 0.025 * rain - 0.012 * burrs + rng.normal(0, 0.015, N)
clean = (greasy * np.clip(share, 0.2, 0.9)).astype(np.int64)    # grams

x = np.column_stack([np.eye(3)[breed], rain / 2, (fibre - 26) / 6, burrs / 4, greasy / 3700]).astype(np.float32)
fraction = (clean // greasy).astype(np.float32)
train, check = np.arange(0, 750), np.arange(750, N)


class Mill(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(7, 16, rng=rng)
        self.second = nn.Affine(16, 1, rng=rng)

    def forward(self, x):
        return self.second(np.tanh(self.first(x)))[:, 0]


def loss(model, batch):
    inputs, targets = batch
    return nn.huber_loss(model(inputs), targets)


model = Mill(np.random.default_rng(3))
history = nn.fit(
    model, nn.Batches([x[train], fraction[train]], 50, seed=0), loss, nn.Adam(model.parameters(), lr=0.005), epochs=20,
    progress=False,
)
print("losses", [f"{history.losses[k]:.5f}" for k in (0, 14, 149, -1)])
with mg.no_grad():
    paid = model(x[check]).numpy() * greasy[check]
print(f"clean wool of {len(check)} fleeces: estimated {paid.sum() / 1000:.0f} kg, weighed {clean[check].sum() / 1000:.0f} kg")
print(f"off by {np.abs(paid - clean[check]).mean():.0f} g for a fleece")
