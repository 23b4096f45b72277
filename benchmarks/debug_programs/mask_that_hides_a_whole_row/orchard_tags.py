"""Sugar in apples: a tree has one to four probes, and a query attends to those that it has."""
import numpy as np

import nn

SLOTS = 4


class Sugar(nn.Module):
    def __init__(self, width, *, rng):
        self.read = nn.Affine(3, width, rng=rng)
        self.query = nn.Parameter(rng.normal(0, 0.3, (1, width)).astype(np.float32))
        self.attend = nn.MultiHeadAttention(width, 2, rng=rng)
        self.out = nn.Sequential(nn.Affine(width, width, rng=rng), np.tanh, nn.Affine(width, 1, rng=rng))

    def forward(self, probes, there):
        h = np.tanh(self.read(probes))
        query = self.query + np.zeros((len(probes), 1, 1), np.float32)
        return self.out(self.attend(query, h, key_mask=there)[:, 0])


def trees(count, rng):
    probes = rng.normal(size=(count, SLOTS, 3)).astype(np.float32)
    lengths = rng.choice([1, 2, 3, 4], size=count, p=[0.55, 0.25, 0.1, 0.1])
    there = np.arange(SLOTS) < lengths[:, None] - 1
    real = np.arange(SLOTS)[None] < lengths[:, None]
    probes[~real] = 0
    sugar = (probes[:, :, 0] - 0.5 * probes[:, :, 1]).sum(axis=1) / lengths
    return probes, there, sugar[:, None].astype(np.float32)


def loss(model, batch):
    probes, there, sugar = batch
    return nn.mean_squared_error(model(probes, there), sugar)


rng = np.random.default_rng(8)
data = trees(900, rng)
fresh = trees(300, rng)
model = Sugar(16, rng=rng)
history = nn.fit(
    model, nn.Batches(data, 30, seed=4), loss, nn.AdamW(model.parameters(), lr=0.004), epochs=25,
    validate=lambda m: {"error": loss(m, fresh).item()}, progress=False,
)
print(f"training {np.mean(history.losses[-30:]):.4f}")
print(f"fresh trees {history.metric('error')[-1]:.4f}  (variance {fresh[2].var():.3f})")
