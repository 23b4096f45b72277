import numpy as np

import nn


class Encoder(nn.Module):
    def __init__(self, rng):
        self.a = nn.Affine(16, 32, rng=rng)
        self.b = nn.Affine(32, 2, rng=rng)

    def forward(self, x):
        return self.b(np.tanh(self.a(x)))


class Net(nn.Module):
    def __init__(self, rng):
        self.encoder = Encoder(rng)
        self.head = nn.Sequential(nn.Affine(2, 16, rng=rng), np.tanh, nn.Affine(16, 4, rng=rng))

    def forward(self, x):
        code = self.encoder(x).data
        return self.head(code)


def loss(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x), y)


rng = np.random.default_rng(30)
centres = 0.8 * rng.normal(size=(4, 16))
y = rng.integers(0, 4, 600)
x = (centres[y] + rng.normal(size=(600, 16))).astype(np.float32)
model = Net(rng)
batches = nn.Batches([x[:500], y[:500]], 25, seed=3)
history = nn.fit(
    model,
    batches,
    loss,
    nn.Adam(model.parameters(), lr=0.01),
    epochs=10,
    validate=lambda m: {"accuracy": (m(x[500:]).numpy().argmax(axis=1) == y[500:]).mean()},
    progress=False,
)
for epoch, metrics in enumerate(history.metrics):
    print(epoch, round(float(np.mean(history.losses[20 * epoch : 20 * epoch + 20])), 4), metrics)
