"""The weight of a picnic basket per item, from lists of different lengths; empty places are padding."""
import numpy as np
import minigrad as mg
import nn

GRAMS = np.array([0.0, 120, 450, 80, 1000, 30, 250, 600])     # id 0 is padding
rng = np.random.default_rng(7)


def baskets(n, most):
    count = rng.integers(1, most + 1, n)
    ids = np.zeros((n, most), np.int64)
    for row, c in zip(ids, count):
        row[:c] = rng.integers(1, len(GRAMS), c)
    mean = GRAMS[ids].sum(axis=1) / count
    return ids, nn.padding_mask(count, most), ((mean - 350) / 200).astype(np.float32)


class Scale(nn.Module):
    def __init__(self, rng):
        self.item = nn.Embedding(len(GRAMS), 12, rng=rng, padding_idx=0)
        self.block = nn.TransformerEncoderLayer(12, 2, 24, rng=rng)
        self.needle = nn.Affine(12, 1, rng=rng)

    def forward(self, ids, filled):
        x = self.block(self.item(ids), key_mask=filled)
        return self.needle(nn.pool(x, filled))[:, 0]


def loss(model, batch):
    ids, filled, grams = batch
    return nn.mean_squared_error(model(ids, filled), grams)


train = baskets(300, 9)
model = Scale(np.random.default_rng(0))
history = nn.fit(
    model, nn.Batches(list(train), 30, seed=0), loss, nn.Adam(model.parameters(), lr=0.01), epochs=25, progress=False
)
print("loss", round(history.losses[0], 4), round(history.losses[-1], 4))
for most in (3, 9, 14):
    ids, filled, grams = baskets(100, most)
    with mg.no_grad():
        print(f"up to {most} items: {200 * np.abs(model(ids, filled).numpy() - grams).mean():.1f} g off")
