"""Weight of a parcel from its carrier code and its size."""

import numpy as np
import nn

rng = np.random.default_rng(61)
code = rng.integers(0, 40, 800)
size = rng.uniform(0, 1, (800, 1)).astype(np.float32)
density = rng.normal(0, 1.5, 40)
weight = (density[code][:, None] * (0.5 + size)).astype(np.float32)


class Parcel(nn.Module):
    def __init__(self, rng):
        self.embedding = nn.Embedding(40, 6, rng=rng)
        self.hidden = nn.Affine(7, 16, rng=rng)
        self.head = nn.Affine(16, 1, rng=rng)

    def forward(self, code, size):
        x = np.concatenate([self.embedding(code), size], axis=1)
        return self.head(np.tanh(self.hidden(x)))


def loss(model, batch):
    code, size, weight = batch
    return nn.mean_squared_error(model(code, size), weight)


model = Parcel(rng)
optimizer = nn.Adam(model.head.parameters(), lr=0.01)
data = nn.Batches([code, size, weight], 40, seed=0)
history = nn.fit(model, data, loss, optimizer, epochs=40, progress=False)
for epoch in (0, 9, 39):
    print(epoch + 1, round(float(np.mean(history.losses[20 * epoch : 20 * epoch + 20])), 4))
