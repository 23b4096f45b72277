"""The mean age of a ship's crew, from the list of their jobs. Crews have from two to twelve members."""
import numpy as np
import minigrad as mg
import nn

JOBS = ["captain", "mate", "cook", "deckhand", "engineer", "boy"]
AGES = np.array([57.0, 44.0, 39.0, 28.0, 35.0, 15.0])
EMPTY = len(JOBS) + 1
rng = np.random.default_rng(10)


def crews(n, least, most):
    lists = [1 + rng.integers(0, len(JOBS), rng.integers(least, most + 1)) for _ in range(n)]
    table = np.zeros((n, 12), dtype=np.int64)
    for row, jobs in zip(table, lists):
        row[: len(jobs)] = jobs
    mean = np.array([AGES[jobs - 1].mean() for jobs in lists])
    return table, ((mean - 35) / 10).astype(np.float32)


class MeanAge(nn.Module):
    def __init__(self, rng):
        self.job = nn.Embedding(len(JOBS) + 1, 12, rng=rng)
        self.attend = nn.MultiHeadAttention(12, 2, rng=rng)
        self.age = nn.Affine(12, 1, rng=rng)

    def forward(self, table):
        aboard = table != EMPTY
        x = self.job(table)
        x = x + self.attend(x, key_mask=aboard)
        return self.age(nn.pool(x, aboard))[:, 0]


def loss(model, batch):
    table, age = batch
    return nn.mean_squared_error(model(table), age)


table, age = crews(400, 5, 12)
model = MeanAge(np.random.default_rng(3))
history = nn.fit(
    model, nn.Batches([table, age], 40, seed=0), loss, nn.Adam(model.parameters(), lr=0.01),
    epochs=30, progress=False,
)
print("loss", round(history.losses[0], 4), round(float(np.mean(history.losses[-10:])), 4))
other, truth = crews(200, 2, 4)
with mg.no_grad():
    off = 10 * np.abs(model(other).numpy() - truth)
print("small crews: years off", off.mean().round(2))
