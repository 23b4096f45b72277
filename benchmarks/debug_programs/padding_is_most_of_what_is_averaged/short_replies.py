"""Tag the words of short chat replies with a GRU. Replies have two to six words, the form has room for sixty."""

import minigrad as mg
import nn
import numpy as np

WORDS, TAGS, ROOM = 24, 5, 60
rng = np.random.default_rng(12)


def replies(n):
    lengths = rng.integers(2, 7, size=n)
    ids = rng.integers(1, WORDS, size=(n, ROOM))
    before = np.concatenate([np.zeros((n, 1), int), ids[:, :-1]], axis=1)
    tags = 1 + (ids % 2) * 2 + (before % 3 == 0)
    there = np.arange(ROOM) < lengths[:, None]
    return np.where(there, ids, 0), np.where(there, tags, 0)


class Tagger(nn.Module):
    def __init__(self, rng):
        self.words = nn.Embedding(WORDS, 16, rng=rng, std=0.3)
        self.gru = nn.GRU(16, 24, rng=rng)
        self.output = nn.Affine(24, TAGS, rng=rng)

    def forward(self, ids):
        states, _ = self.gru(self.words(ids))
        return self.output(states)


ids, tags = replies(320)
test_ids, test_tags = replies(200)
model = Tagger(np.random.default_rng(3))
optimizer = nn.SGD(model.parameters(), lr=0.3, momentum=0.9)
batches = nn.Batches([ids, tags], 32, seed=0)
for epoch in range(15):
    total = 0.0
    for words, right in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(words), right)
        loss.backward()
        nn.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {total / len(batches):.4f}")

model.eval()
with mg.no_grad():
    guess = model(test_ids).numpy().argmax(axis=-1)
written = test_ids > 0
print(f"tags of written words right: {np.mean(guess[written] == test_tags[written]):.3f}")
