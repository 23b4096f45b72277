import numpy as np
import nn

# Kilos of apples per tree, from age, rain in May, bees and pruning
rng = np.random.default_rng(31)
trees = 500
age = rng.uniform(2, 40, trees)
rain = rng.gamma(4, 15, trees)
bees = rng.poisson(6, trees)
pruned = rng.integers(0, 2, trees)
kilos = 80 * np.exp(-(((age - 18) / 12) ** 2)) + 3 * np.sqrt(rain) * pruned + 2.5 * bees + rng.normal(0, 3, trees)


def standard(column):
    return (column - column.mean()) / column.std()


table = np.stack([standard(c) for c in (age, rain, bees.astype(float), pruned.astype(float))], axis=1).astype(np.float32)
target = standard(kilos).astype(np.float32)
known, unknown = np.arange(400), np.arange(400, 500)


class Orchard(nn.Module):
    def __init__(self, width, rng):
        self.a = nn.Affine(4, width, rng=rng)
        self.b = nn.Affine(width, width, rng=rng)
        self.c = nn.Affine(width, 1, rng=rng)

    def forward(self, x):
        h = np.tanh(self.a(x))
        h = np.tanh(self.b(h))
        return self.c(h)[:, 0]


def squared_error(model, batch):
    x, y = batch
    return np.mean(model(x) - y) ** 2


def explained(model):
    rest = target[unknown] - model(table[unknown]).numpy()
    return {"explained": 1 - rest.var() / target[unknown].var()}


model = Orchard(24, np.random.default_rng(7))
history = nn.fit(
    model,
    nn.Batches([table[known], target[known]], 25, seed=3),
    squared_error,
    nn.Adam(model.parameters(), lr=0.004),
    epochs=60,
    validate=explained,
    progress=False,
)
print(f"loss {history.losses[0]:.4f} -> {history.losses[-1]:.5f}")
print(f"explained on trees not seen: {history.metric('explained')[-1]:.3f}")
