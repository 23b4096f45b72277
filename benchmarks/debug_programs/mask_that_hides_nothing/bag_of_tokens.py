"""How expensive is a shopping basket on average? Baskets are padded to 24 items."""

import numpy as np

import nn

rng = np.random.default_rng(88)
price_of = rng.gamma(2.0, 3.0, 40)
sizes = rng.integers(1, 25, 700)
items = rng.integers(1, 40, size=(700, 24))
items[np.arange(24) >= sizes[:, None]] = 0
mean_price = np.array([price_of[row[row > 0]].mean() for row in items])[:, None].astype(np.float32)


class Basket(nn.Module):
    def __init__(self, rng):
        self.items = nn.Embedding(40, 12, rng=rng, std=0.3)
        self.hidden = nn.Affine(12, 24, rng=rng)
        self.out = nn.Affine(24, 1, rng=rng)

    def forward(self, ids):
        is_item = ids != -1
        pooled = nn.pool(self.items(ids), is_item)
        return self.out(nn.functional.gelu(self.hidden(pooled)))


def loss(model, batch):
    ids, target = batch
    return nn.mean_squared_error(model(ids), target)


model = Basket(rng)
history = nn.fit(
    model,
    nn.Batches([items[:600], mean_price[:600]], 40, seed=0),
    loss,
    nn.Adam(model.parameters(), lr=0.01),
    epochs=25,
    validate=lambda m: {"error": nn.mean_squared_error(m(items[600:]), mean_price[600:]).item()},
    progress=False,
)
print("variance of the prices", mean_price.var().round(3))
print("error on new baskets", [round(e, 3) for e in history.metric("error")[::4]])
