"""Attention as a soft dictionary: find the entry that the question means among eight keys, and read its value."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(67)
ENTRIES, WIDTH = 8, 64
codebook = rng.normal(size=(16, WIDTH)).astype(np.float32)


def questions(count):
    names = np.argsort(rng.random((count, 16)), axis=1)[:, :ENTRIES]
    values = rng.integers(0, 4, (count, ENTRIES))
    asked = rng.integers(0, ENTRIES, count)
    keys = codebook[names] + rng.normal(0, 0.3, (count, ENTRIES, WIDTH)).astype(np.float32)
    rows = np.arange(count)
    query = codebook[(names[rows, asked] + 1) % 16]
    return query, keys, values, values[rows, asked]


class Dictionary(nn.Module):
    def __init__(self, rng):
        self.query = nn.Affine(WIDTH, WIDTH, rng=rng)
        self.key = nn.Affine(WIDTH, WIDTH, rng=rng)
        self.value = nn.Embedding(4, 16, rng=rng)
        self.answer = nn.Affine(16, 4, rng=rng)

    def forward(self, query, keys, values):
        q, k = self.query(query)[:, None, :], self.key(keys)
        scores = (q * k).sum(axis=-1) * np.float32(np.sqrt(WIDTH))
        weights = mg.softmax(scores, axis=-1)
        read = (weights[:, :, None] * self.value(values)).sum(axis=1)
        return self.answer(read)


model = Dictionary(np.random.default_rng(0))
optimizer = nn.Adam(model.parameters(), lr=0.002)
for step in range(400):
    query, keys, values, wanted = questions(64)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(query, keys, values), wanted)
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print(f"{step:3d}: {loss.item():.3f}")

query, keys, values, wanted = questions(400)
print("found:", np.mean(model(query, keys, values).numpy().argmax(axis=1) == wanted))
