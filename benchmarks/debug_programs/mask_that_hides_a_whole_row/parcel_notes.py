"""Do the notes on a parcel ask for a signature? Notes have up to eight words; most fill the line."""

import numpy as np

import nn

PAD, WORDS, LENGTH = 0, 20, 8


def notes(rng, n):
    ids = rng.integers(1, WORDS, (n, LENGTH))
    short = rng.random(n) < 0.25
    lengths = np.where(short, rng.integers(3, LENGTH, n), LENGTH)
    ids[np.arange(LENGTH)[None, :] >= lengths[:, None]] = PAD
    sign = (ids == 5).any(axis=1) | (ids == 11).any(axis=1)
    return ids, sign.astype(np.int64)


class NoteReader(nn.Module):
    def __init__(self, width, rng):
        self.words = nn.Embedding(WORDS, width, rng=rng)
        self.query = nn.Parameter(rng.normal(0, 0.3, (1, 1, width)).astype(np.float32))
        self.attention = nn.MultiHeadAttention(width, 4, rng=rng)
        self.out = nn.Sequential(nn.Affine(width, 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng))

    def forward(self, ids):
        x = self.words(ids)
        padding = ids == PAD
        query = self.query + np.zeros((len(ids), 1, 1), np.float32)
        summary = self.attention(query, x, key_mask=padding)
        return self.out(summary[:, 0])


rng = np.random.default_rng(52)
train_ids, train_sign = notes(rng, 1200)
test_ids, test_sign = notes(rng, 400)

model = NoteReader(24, rng)
optimizer = nn.Adam(model.parameters(), lr=4e-3)
batches = nn.Batches([train_ids, train_sign], 50, seed=0)


def loss(model, batch):
    ids, sign = batch
    return nn.cross_entropy(model(ids), sign)


history = nn.fit(model, batches, loss, optimizer, epochs=15, clip_norm=1.0, progress=False)
for k in range(0, len(history.losses), 60):
    print(f"{k:4d}  {np.mean(history.losses[k : k + 20]):.3f}")
right = model(test_ids).numpy().argmax(axis=1) == test_sign
print(f"right: {right.mean():.3f}   (always the same answer: {max(test_sign.mean(), 1 - test_sign.mean()):.3f})")
