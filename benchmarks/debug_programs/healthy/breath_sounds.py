import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(16)
bins = np.arange(30)


def breaths(n, share):
    """Spectra of breaths, a share of them with a wheeze."""
    wheeze = rng.random(n) < share
    base = np.exp(-bins / 9) * rng.gamma(6.0, 1 / 6, (n, 1))
    tone = np.exp(-((bins - rng.uniform(15, 24, (n, 1))) ** 2) / 3) * rng.uniform(0.3, 0.9, (n, 1))
    return (base + wheeze[:, None] * tone + rng.normal(0, 0.08, base.shape)).astype(np.float32), wheeze.astype(np.int64)


class Listener(nn.Module):
    def __init__(self):
        self.a, self.norm_a = nn.Affine(30, 32, rng=rng), nn.BatchNorm(32)
        self.b, self.norm_b = nn.Affine(32, 16, rng=rng), nn.BatchNorm(16)
        self.drop, self.c = nn.Dropout(0.3, rng=rng), nn.Affine(16, 2, rng=rng)

    def forward(self, x):
        x = mg.relu(self.norm_a(self.a(x)))
        x = self.drop(mg.relu(self.norm_b(self.b(x))))
        return self.c(x)


def evaluate(model, x, y):
    model.eval()
    with mg.no_grad():
        share = float(np.mean(model(x).numpy().argmax(axis=1) == y))
    model.train()
    return share


x, y = breaths(1200, 0.5)
x_val, y_val = breaths(400, 0.3)
model = Listener()
optimizer = nn.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for rows in rng.permutation(1200).reshape(-1, 40):
        loss = nn.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}  loss {loss.item():.4f}  validation {evaluate(model, x_val, y_val):.3f}")

model.eval()
ill, well = breaths(1, 1.0)[0], breaths(1, 0.0)[0]
print("one breath at a time:", model(ill).numpy().argmax(), model(well).numpy().argmax())
