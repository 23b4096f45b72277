"""Which topic is the message about? Attention over messages of different lengths."""

import numpy as np

import minigrad as mg
from minigrad import Tensor

rng = np.random.default_rng(43)
LONGEST, WORDS, PAD = 60, 40, 0


def messages(count):
    lengths = rng.integers(1, 5, count)
    topic = rng.integers(0, 4, count)
    ids = np.full((count, LONGEST), PAD)
    for row, (length, t) in enumerate(zip(lengths, topic)):
        ids[row, :length] = rng.integers(1, WORDS, length)
        ids[row, rng.integers(0, length)] = 1 + t
        rest = ids[row, :length]
        rest[(rest <= 4) & (rest != 1 + t)] = 20
    return ids, topic


E = Tensor(rng.normal(size=(WORDS, 12)) * 0.5, requires_grad=True)
query = Tensor(rng.normal(size=12) * 0.3, requires_grad=True)
W = Tensor(rng.normal(size=(12, 4)) * 0.3, requires_grad=True)


def logits(ids):
    x = E[ids]
    scores = x @ query
    padding = (ids == PAD).astype(float)
    scores = scores + padding * -1e-9
    weights = mg.softmax(scores, axis=1)
    return (weights[..., None] * x).sum(axis=1) @ W


x, y = messages(400)
for epoch in range(8):
    for start in range(0, 400, 40):
        loss = mg.cross_entropy(logits(x[start : start + 40]), y[start : start + 40])
        loss.backward()
        for p in (E, query, W):
            p.data -= 0.5 * p.grad
            p.zero_grad()
    print(f"epoch {epoch}: {loss.item():.3f}")
x, y = messages(400)
print("accuracy", (logits(x).numpy().argmax(axis=1) == y).mean())
