"""Does the first number of a row come before the last one in size? A little Transformer decides."""

import numpy as np

import nn


class Comparer(nn.Module):
    def __init__(self, vocab, length, width, rng):
        self.tokens = nn.Embedding(vocab, width, rng=rng)
        self.positions = nn.LearnedPositions(length, width, rng=rng, std=0.3)
        self.layer = nn.TransformerEncoderLayer(width, 2, 2 * width, rng=rng)
        self.output = nn.Affine(width, 2, rng=rng)

    def forward(self, ids):
        x = self.tokens(ids)
        x = self.layer(x)
        return self.output(x.mean(axis=1))


rng = np.random.default_rng(6)
ids = rng.integers(0, 12, size=(1500, 4))
labels = (ids[:, 0] < ids[:, -1]).astype(np.int64)
model = Comparer(12, 4, 24, rng)
optimizer = nn.Adam(model.parameters(), lr=0.005)
batches = nn.Batches([ids[:1200], labels[:1200]], 60, seed=1)
for epoch in range(12):
    losses = []
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    guess = model(ids[1200:]).numpy().argmax(axis=1)
    print(f"epoch {epoch}: loss {np.mean(losses):.4f}, accuracy {(guess == labels[1200:]).mean():.3f}")
