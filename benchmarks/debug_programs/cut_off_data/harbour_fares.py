"""Ticket prices between twelve harbours: a small table of positions and a map from two positions to a price."""
import numpy as np

import minigrad as mg
import nn

HARBOURS = 12
rng = np.random.default_rng(7)
coast = rng.uniform(-1, 1, (HARBOURS, 2))                    # where the harbours really are


def sample(n):
    start, end = rng.integers(0, HARBOURS, (2, n))
    miles = np.sqrt(((coast[start] - coast[end]) ** 2).sum(axis=1))
    return start, end, (1.0 + 2.0 * miles).astype(np.float32)[:, None]


class Fares(nn.Module):
    def __init__(self, rng):
        self.place = nn.Embedding(HARBOURS, 2, rng=rng, std=0.5)
        self.hidden = nn.Affine(2, 12, rng=rng)
        self.price = nn.Affine(12, 1, rng=rng)

    def forward(self, start, end):
        a = self.place.weight.data[start]
        b = self.place.weight.data[end]
        h = mg.relu(self.hidden(a - b))
        return self.price(h)


def loss(model, batch):
    start, end, fare = batch
    return nn.mean_squared_error(model(start, end), fare)


train = sample(600)
test = sample(200)
model = Fares(np.random.default_rng(1))
batches = nn.Batches(list(train), 50, seed=2)
history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.02), epochs=40, progress=False)
print("training", round(float(np.mean(history.losses[-12:])), 4))
with mg.no_grad():
    error = model(test[0], test[1]).numpy() - test[2]
print("mean error of a fare", round(float(np.abs(error).mean()), 3))
