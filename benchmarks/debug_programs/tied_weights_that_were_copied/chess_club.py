"""Who of a chess club gets along with whom?  One table of players, and a symmetric score for each pair."""
import numpy as np
import minigrad as mg
import nn

PLAYERS, WIDTH = 24, 6
rng = np.random.default_rng(6)
taste = rng.normal(size=(PLAYERS, 3))
likes = (taste @ taste.T > 0).astype(np.int64)

first, second = np.triu_indices(PLAYERS, k=1)
agree = likes[first, second]


class Pairs(nn.Module):
    def __init__(self, rng):
        self.player = nn.Embedding(PLAYERS, WIDTH, rng=rng, std=0.3)
        self.partner = nn.Embedding(PLAYERS, WIDTH, rng=rng)
        self.partner.weight = nn.Parameter(self.player.weight.numpy().copy())     # both sides of the board: one table
        self.bias = nn.Parameter(np.zeros(1, np.float32))

    def forward(self, a, b):
        return (self.player(a) * self.partner(b)).sum(axis=-1) + self.bias


def loss(model, batch):
    a, b, y = batch
    return nn.binary_cross_entropy_with_logits(model(a, b), y.astype(np.float32))


def accuracy(model, a, b, y):
    with mg.no_grad():
        return np.mean((model(a, b).numpy() > 0) == y)


model = Pairs(np.random.default_rng(0))
batches = nn.Batches([first, second, agree], 46, seed=1)
history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.03), epochs=60, progress=False)
print("loss", round(history.losses[0], 3), round(history.losses[-1], 3))
print("as noted:", accuracy(model, first, second, agree).round(3))
print("colours swapped:", accuracy(model, second, first, agree).round(3))
