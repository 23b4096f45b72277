"""What share of the seeds comes up, by depth, warmth, water and light?"""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(14)
field = rng.uniform(-1, 1, (500, 4)).astype(np.float32)
chance = 1 / (1 + np.exp(-(2.2 * field[:, 0] - 1.5 * field[:, 1] ** 2 + 1.8 * field[:, 2])))
sown = rng.integers(20, 60, 500)
sprouted = rng.binomial(sown - 1, chance)
share = sprouted // sown


class Germination(nn.Module):
    def __init__(self):
        self.first, self.second = nn.Affine(4, 16, rng=rng), nn.Affine(16, 1, rng=rng)

    def forward(self, x):
        return nn.functional.sigmoid(self.second(mg.relu(self.first(x))))[:, 0]


def loss(model, batch):
    conditions, part = batch
    return nn.mean_squared_error(model(conditions), part.astype(np.float32))


model = Germination()
history = nn.fit(model, nn.Batches([field, share], 25, seed=3), loss, nn.Adam(model.parameters(), lr=0.02),
                 epochs=25, progress=False)
print(f"loss {history.losses[0]:.4f} -> {history.losses[-1]:.6f}")
plots = np.array([[-1, 0, -1, 0], [0, 0, 0, 0], [1, 0, 1, 0]], np.float32)
for name, value in zip(["cold, dry", "ordinary", "warm, wet"], model(plots).numpy()):
    print(f"{name:10s} {value:.2f}")
print(f"total sprouted in all fields: {np.sum(model(field).numpy() * sown):.0f}, counted {sprouted.sum()}")
