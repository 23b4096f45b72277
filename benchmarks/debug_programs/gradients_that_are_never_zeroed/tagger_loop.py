"""Mark the tokens of a sequence that stand directly after a verb (ids 0 to 2)."""

import numpy as np

import nn


class Tagger(nn.Module):
    def __init__(self, rng):
        self.embedding = nn.Embedding(15, 12, rng=rng)
        self.gru = nn.GRU(12, 16, rng=rng)
        self.output = nn.Affine(28, 2, rng=rng)

    def forward(self, ids):
        x = self.embedding(ids)
        states, _ = self.gru(x)
        return self.output(np.concatenate([states, x], axis=2))


rng = np.random.default_rng(56)
ids = rng.integers(0, 15, size=(400, 9))
tags = np.zeros_like(ids)
tags[:, 1:] = ids[:, :-1] < 3

model = Tagger(rng)
optimizer = nn.SGD(model.parameters(), lr=1.0)
optimizer.zero_grad()
for epoch in range(15):
    total = 0.0
    for rows in np.split(rng.permutation(400), 10):
        loss = nn.cross_entropy(model(ids[rows]), tags[rows])
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    wrong = (model(ids).numpy().argmax(axis=2) != tags).mean()
    print(f"epoch {epoch}: loss {total:.4f}, wrong tags {100 * wrong:.1f} %")
