import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(121)
zones = rng.integers(1, 6, 500)                  # zones crossed
age = rng.integers(5, 90, 500)
peak = rng.integers(0, 2, 500)


def price_share(zones, age, peak):
    """Fill in the share of the full fare, between 0 and 1."""
    share = np.zeros_like(zones)
    for i, (z, a, p) in enumerate(zip(zones, age, peak)):
        base = 0.2 + 0.15 * z
        if a < 15 or a > 65:
            base *= 0.5
        share[i] = base * (1.0 if p else 0.8)
    return share


features = np.stack([zones / 5, age / 90, (age / 90) ** 2, peak], axis=1).astype(np.float32)
share = price_share(zones, age, peak)[:, None]


class Fare(nn.Module):
    def __init__(self, rng):
        self.layers = nn.Sequential(nn.Affine(4, 32, rng=rng), mg.relu, nn.Affine(32, 32, rng=rng), mg.relu)
        self.out = nn.Affine(32, 1, rng=rng)

    def forward(self, x):
        return self.out(self.layers(x))


model = Fare(np.random.default_rng(3))
optimizer = nn.Adam(model.parameters(), lr=0.01)
for step in range(400):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(features[:400]), share[:400])
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print("step", step, "loss", round(loss.item(), 5))

for who, row in [("child, 1 zone", [0.2, 0.11, 0.012, 1]), ("adult, 4 zones", [0.8, 0.44, 0.2, 1])]:
    print(f"{who:15s} pays {model(np.array([row], np.float32)).item():.2f} of the full fare")
