"""A small model of phrases over twelve syllables, and how well it continues them."""

import numpy as np

import nn

SYLLABLES, LENGTH, WIDTH = 12, 16, 24
rng = np.random.default_rng(11)
follows = rng.integers(0, SYLLABLES, (SYLLABLES, SYLLABLES))


def phrases(count):
    ids = np.zeros((count, LENGTH + 1), np.int64)
    ids[:, :2] = rng.integers(0, SYLLABLES, (count, 2))
    for t in range(2, LENGTH + 1):
        slip = rng.random(count) < 0.1
        ids[:, t] = np.where(slip, rng.integers(0, SYLLABLES, count), follows[ids[:, t - 1], ids[:, t - 2]])
    return ids


class PhraseModel(nn.Module):
    def __init__(self, rng):
        self.table = nn.Embedding(SYLLABLES, WIDTH, rng=rng, std=0.3)
        self.place = nn.LearnedPositions(LENGTH, WIDTH, rng=rng)
        self.blocks = [nn.TransformerEncoderLayer(WIDTH, 2, 48, rng=rng) for _ in range(2)]
        self.norm = nn.LayerNorm(WIDTH)
        self.scores = nn.Affine(WIDTH, SYLLABLES, rng=rng)

    def forward(self, ids):
        x = self.place(self.table(ids))
        for block in self.blocks:
            x = block(x)
        return self.scores(self.norm(x))


model = PhraseModel(rng)
optimizer = nn.Adam(model.parameters(), lr=4e-3)
for step in range(700):
    text = phrases(32)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(text[:, :-1]), text[:, 1:])
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step:4d}  loss {loss.item():.3f}")

model.eval()
fresh = phrases(200)
guess = model(fresh[:, :7]).numpy()[:, -1].argmax(axis=-1)
print(f"last loss {loss.item():.3f}, continued correctly {np.mean(guess == fresh[:, 7]):.2f}")
