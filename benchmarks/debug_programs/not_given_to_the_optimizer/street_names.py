"""Guess the district of a street from the letters of its name."""

import numpy as np

import nn

rng = np.random.default_rng(51)
LETTERS, LENGTH, DISTRICTS = 20, 6, 3
favour = rng.dirichlet(np.full(LETTERS, 0.6), size=DISTRICTS)


def streets(n):
    district = rng.integers(0, DISTRICTS, n)
    names = np.stack([rng.choice(LETTERS, LENGTH, p=favour[d]) for d in district])
    return names, district


class Reader(nn.Module):
    def __init__(self, rng):
        self.letters = nn.Embedding(LETTERS, 2, rng=rng)
        self.head = nn.Sequential(nn.Affine(2, 16, rng=rng), np.tanh, nn.Affine(16, DISTRICTS, rng=rng))

    def forward(self, names):
        return self.head(self.letters(names).mean(axis=1))


names, district = streets(900)
model = Reader(rng)
optimizer = nn.Adam(model.head.parameters(), lr=0.01)
batches = nn.Batches([names, district], 45, seed=8)
for epoch in range(25):
    total = 0.0
    for letters, label in batches.epoch(epoch):
        model.zero_grad()
        loss = nn.cross_entropy(model(letters), label)
        loss.backward()
        optimizer.step()
        total += loss.item() / len(batches)
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  {total:.3f}")

names, district = streets(500)
print("right:", np.mean(model(names).numpy().argmax(axis=1) == district))
