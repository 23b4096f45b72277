"""Which bracket sequence is balanced? Texts of different lengths, an encoder of two layers and mean pooling."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(107)
OPEN, CLOSE, PAD, LONGEST = 0, 1, 2, 10


def texts(count):
    ids = np.full((count, LONGEST), PAD)
    lengths = 2 * rng.integers(2, LONGEST // 2 + 1, count)
    for row, length in zip(ids, lengths, strict=True):
        row[:length] = rng.permutation([OPEN, CLOSE] * (length // 2))
        if row[0] == CLOSE and rng.random() < 0.7:
            row[:length] = 1 - row[:length]
    height = np.cumsum(np.where(ids == OPEN, 1, np.where(ids == CLOSE, -1, 0)), axis=1)
    return ids, (height.min(axis=1) >= 0).astype(np.int64)


class Judge(nn.Module):
    def __init__(self, width, *, rng):
        self.symbols = nn.Embedding(3, width, rng=rng)
        self.places = nn.LearnedPositions(LONGEST, width, rng=rng)
        self.layers = [nn.TransformerEncoderLayer(width, 2, 64, rng=rng, dropout=0.05) for _ in range(2)]
        self.norm = nn.LayerNorm(width)
        self.verdict = nn.Affine(width, 2, rng=rng)

    def forward(self, ids):
        real = ids != PAD
        x = self.places(self.symbols(ids))
        for layer in self.layers:
            x = layer(x, key_mask=real)
        return self.verdict(nn.pool(self.norm(x), real))


judge = Judge(24, rng=np.random.default_rng(0))
optimizer = nn.Adam(judge.parameters(), lr=0.004)
judge.train()
for step in range(250):
    ids, balanced = texts(48)
    optimizer.zero_grad()
    loss = nn.cross_entropy(judge(ids), balanced)
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step:3d}  loss {loss.item():.3f}")

judge.eval()
ids, balanced = texts(500)
with mg.no_grad():
    print("right", np.mean(judge(ids).numpy().argmax(axis=1) == balanced), "balanced", balanced.mean())
