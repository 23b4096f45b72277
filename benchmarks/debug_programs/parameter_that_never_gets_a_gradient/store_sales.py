"""Weekly sales of twenty stores from price and promotion."""

import numpy as np
import nn

rng = np.random.default_rng(4)
store = rng.integers(0, 20, 600)
features = rng.normal(size=(600, 2)).astype(np.float32)
level = rng.normal(0.0, 2.0, 20)
sales = (features @ [1.0, -0.7] + level[store])[:, None].astype(np.float32)


class SalesModel(nn.Module):
    def __init__(self, stores, rng):
        self.hidden = nn.Affine(2, 16, rng=rng)
        self.output = nn.Affine(16, 1, rng=rng)
        self.level = nn.Embedding(stores, 1, rng=rng)

    def forward(self, features, store):
        h = np.tanh(self.hidden(features))
        return self.output(h)


def loss(model, batch):
    x, who, y = batch
    return nn.mean_squared_error(model(x, who), y)


model = SalesModel(20, np.random.default_rng(0))
batches = nn.Batches([features, store, sales], 50, seed=1)
history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.02), epochs=30, progress=False)
print(f"first {history.losses[0]:.3f}, last {np.mean(history.losses[-12:]):.3f}")
