"""A next-token model on made-up syllables, of one encoder layer."""

import numpy as np
import nn

rng = np.random.default_rng(9)
VOCAB, LENGTH = 12, 10
table = rng.dirichlet(np.full(VOCAB, 0.15), VOCAB)


def chain(count):
    ids = np.zeros((count, LENGTH + 1), np.int64)
    ids[:, 0] = rng.integers(0, VOCAB, count)
    for t in range(LENGTH):
        draw = rng.random((count, 1))
        ids[:, t + 1] = np.minimum((draw > table[ids[:, t]].cumsum(axis=1)).sum(axis=1), VOCAB - 1)
    return ids


class Speaker(nn.Module):
    def __init__(self, rng):
        self.embed = nn.Embedding(VOCAB, 24, rng=rng)
        self.place = nn.Parameter(rng.normal(0, 0.3, (LENGTH, 24)).astype(np.float32))
        self.layer = nn.TransformerEncoderLayer(24, 2, 48, rng=rng)
        self.norm = nn.LayerNorm(24)
        self.out = nn.Affine(24, VOCAB, rng=rng)

    def forward(self, ids):
        x = self.embed(ids) + self.place[: ids.shape[1]]
        return self.out(self.norm(self.layer(x)))


model = Speaker(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for step in range(400):
    ids = chain(24)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
    loss.backward()
    optimizer.step()

fresh = chain(200)
prefix = nn.cross_entropy(model(fresh[:, :5])[:, -1], fresh[:, 5])
print(f"training loss {loss.item():.3f}, after a prefix of five {prefix.item():.3f}")
