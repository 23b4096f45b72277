"""Where does the stress fall? A GRU reads verses syllable by syllable and marks the stressed ones."""

import numpy as np

import nn

SYLLABLES, START, LENGTH = 50, 50, 14
rng = np.random.default_rng(5)
weight = rng.choice(3, size=SYLLABLES, p=[0.4, 0.35, 0.25])     # light, heavy, or as the verse wants it


def verses(count):
    ids = rng.integers(SYLLABLES, size=(count, LENGTH))
    stress = np.zeros((count, LENGTH), np.int64)
    before = np.zeros(count, np.int64)
    for place in range(LENGTH):
        kind = weight[ids[:, place]]
        now = np.where(kind == 0, 0, np.where(kind == 1, 1, 1 - before))
        stress[:, place] = before = np.where(rng.random(count) < 0.02, 1 - now, now)
    return ids, stress


def as_read(ids):
    """What the network reads: each verse begins with a sign of its own."""
    start = np.full((len(ids), 1), START)
    return np.concatenate([start, ids], axis=1)[:, : ids.shape[1]]


class Scanner(nn.Module):
    def __init__(self, rng):
        self.embedding = nn.Embedding(SYLLABLES + 1, 16, rng=rng)
        self.gru = nn.GRU(16, 24, rng=rng)
        self.output = nn.Affine(24, 2, rng=rng)

    def forward(self, ids):
        states, _ = self.gru(self.embedding(ids))
        return self.output(states)


def loss(model, batch):
    ids, stress = batch
    return nn.cross_entropy(model(ids), stress)


ids, stress = verses(700)
read = as_read(ids)
model = Scanner(np.random.default_rng(2))


def validate(model):
    return {"right": np.mean(model(read[500:]).numpy().argmax(axis=-1) == stress[500:])}


history = nn.fit(
    model, nn.Batches([read[:500], stress[:500]], 25, seed=1), loss, nn.AdamW(model.parameters(), lr=0.01), epochs=8,
    clip_norm=1.0, validate=validate, progress=False,
)
print("loss", [f"{value:.3f}" for value in history.losses[::40]])
print(f"right for {history.metric('right')[-1]:.3f} of the syllables; always the commoner mark: {max(stress.mean(), 1 - stress.mean()):.3f}")
