import numpy as np
import nn


def weather(rng, days):
    t = rng.uniform(-5, 32, days)
    wind = rng.uniform(0, 60, days)
    wet = (rng.random(days) < 0.3).astype(float)
    hires = 40 + 5 * t - 0.08 * t * t - 0.6 * wind - 45 * wet
    X = np.stack([t / 16 - 0.8, wind / 30 - 1, wet], axis=1)
    return X.astype(np.float32), ((hires - 60) / 60)[:, None].astype(np.float32)


class HireModel(nn.Module):
    def __init__(self, rng):
        self.layers = [nn.Affine(3, 16, rng=rng), nn.Affine(16, 16, rng=rng)]
        self.final = nn.Affine(16, 1, rng=rng)

    def forward(self, x):
        for layer in self.layers:
            x = np.tanh(layer(x))
        return self.final(x)


def objective(model, batch):
    x, hires = batch
    forecast = model(x).mean(axis=0)
    return ((forecast - hires) ** 2).mean()


rng = np.random.default_rng(6)
X, y = weather(rng, 365)
net = HireModel(rng)
log = nn.fit(net, nn.Batches([X, y], 30, seed=4), objective, nn.Adam(net.parameters(), lr=0.005), epochs=40, progress=False)
for epoch in (0, 9, 19, 39):
    part = log.losses[13 * epoch : 13 * (epoch + 1)]
    print("epoch", epoch + 1, "loss", round(float(np.mean(part)), 4))
off = np.abs(net(X).numpy() - y).mean() * 60
print("off by", off.round(1), "bicycles a day")
