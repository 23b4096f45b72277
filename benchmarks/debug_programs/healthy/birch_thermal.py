"""Sap flow of birches from four sensors with odd units; what is unseen is scaled by the statistics of the training rows."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(64)
n = 1200
air = rng.normal(288, 6, n)
light = rng.gamma(2, 20000, n)
soil = rng.beta(2, 5, n)
wind = rng.exponential(2e-3, n)
x = np.stack([air, light, soil, wind], axis=1)
flow = 40 + 2 * (air - 288) * soil + light / 8000 + 5 * np.tanh((soil - 0.3) * 8) + rng.normal(0, 0.5, n)

order = np.argsort(air + rng.normal(0, 4, n))
train, test = order[:900], order[900:]
mean, std = x[train].mean(axis=0), x[train].std(axis=0)
x = (x - mean) / std
y_mean, y_std = flow[train].mean(), flow[train].std()
y = (flow - y_mean) / y_std
print("the unseen rows after scaling:", x[test].mean(axis=0).round(1), x[test].std(axis=0).round(1))


class Forest:
    def __init__(self):
        shapes = [(4, 32), (32,), (32, 1), (1,)]
        self.p = [mg.Tensor(rng.normal(0, 0.4, s) if len(s) > 1 else np.zeros(s), requires_grad=True) for s in shapes]

    def __call__(self, x):
        w, b, v, c = self.p
        return (mg.relu(x @ w + b) @ v + c)[:, 0]


forest = Forest()
for step in range(1500):
    rows = rng.choice(train, 60)
    loss = ((forest(x[rows]) - y[rows]) ** 2).mean()
    loss.backward()
    for p in forest.p:
        p.data -= 0.05 * p.grad
        p.zero_grad()
with mg.no_grad():
    guess = forest(x[test]).numpy() * y_std + y_mean
print(f"loss {loss.item():.4f}; unseen off by {np.abs(guess - flow[test]).mean():.2f}, the mean by {np.abs(y_mean - flow[test]).mean():.2f}")
