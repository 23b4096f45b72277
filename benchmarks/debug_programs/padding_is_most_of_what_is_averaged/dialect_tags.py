import numpy as np
import minigrad as mg
import nn

# Tag each word of a sentence: 0 is the tag of the empty places behind it, 1 to 4 are real.
LONGEST, WORDS, TAGS = 40, 30, 5
rng = np.random.default_rng(23)
usual = rng.integers(1, TAGS, WORDS)


def sentences(count):
    ids = np.zeros((count, LONGEST), np.int64)
    tags = np.zeros((count, LONGEST), np.int64)
    for row in range(count):
        size = rng.integers(2, 6)
        words = rng.integers(1, WORDS, size)
        ids[row, :size] = words
        tags[row, :size] = usual[words]
        after = np.flatnonzero(words[:-1] < 8) + 1
        tags[row, after] = tags[row, after] % 4 + 1
    return ids, tags


class Tagger(nn.Module):
    def __init__(self, width=16):
        self.words = nn.Embedding(WORDS, width, rng=rng)
        self.read = nn.GRU(width, width, rng=rng)
        self.tag = nn.Affine(width, TAGS, rng=rng)

    def forward(self, ids):
        return self.tag(self.read(self.words(ids), key_mask=ids > 0)[0])


def loss(model, batch):
    ids, tags = batch
    return nn.cross_entropy(model(ids), tags)


ids, tags = sentences(360)
model = Tagger()
log = nn.fit(model, nn.Batches([ids[:300], tags[:300]], 20, seed=1), loss, nn.SGD(model.parameters(), lr=0.5, momentum=0.9),
             epochs=8, progress=False)
real = ids[300:] > 0
said = model(ids[300:]).numpy().argmax(axis=-1)
print(f"loss {log.losses[0]:.3f} -> {log.losses[-1]:.3f}")
print(f"tags of real words that are right: {np.mean(said[real] == tags[300:][real]):.2f}")
