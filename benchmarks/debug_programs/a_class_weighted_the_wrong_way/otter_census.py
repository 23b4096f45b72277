import numpy as np
import nn

# Which photographs from the river camera show an otter? About one in fifteen does.
rng = np.random.default_rng(21)
n = 1500
shape = rng.standard_normal((n, 6)).astype(np.float32)
score = shape[:, 0] + 0.8 * shape[:, 1] * shape[:, 2] + 0.3 * rng.standard_normal(n)
otter = (score > np.quantile(score, 0.93)).astype(np.int64)
train, test = slice(0, 1000), slice(1000, n)

share = np.bincount(otter[train]) / 1000
importance = share / share.mean()


def loss(model, batch):
    photo, label = batch
    return nn.cross_entropy(model(photo), label, weight=importance)


def recalls(model):
    said = model(shape[test]).numpy().argmax(axis=1)
    return {f"recall_{k}": float(np.mean(said[otter[test] == k] == k)) for k in (0, 1)}


network = nn.Sequential(nn.Affine(6, 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng))
record = nn.fit(network, nn.Batches([shape[train], otter[train]], 50, seed=2), loss,
                nn.Adam(network.parameters(), lr=0.01), epochs=12, validate=recalls, progress=False)
for name, value in recalls(network).items():
    print(name, f"{value:.2f}")
