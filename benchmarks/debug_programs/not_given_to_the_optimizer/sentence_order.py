"""Has the first word a higher rank than the last? Embeddings of five words, and a head."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(61)
VOCABULARY, LENGTH = 20, 5
ids = rng.integers(0, VOCABULARY, (900, LENGTH))
rank = rng.permutation(VOCABULARY)
first_is_greater = (rank[ids[:, 0]] > rank[ids[:, -1]]).astype(np.int64)


class Encoder(nn.Module):
    def __init__(self, rng):
        self.words = nn.Embedding(VOCABULARY, 2, rng=rng, std=0.3)

    def forward(self, ids):
        vectors = self.words(ids)
        return vectors.reshape(len(ids), -1)


class Head(nn.Module):
    def __init__(self, rng):
        self.a = nn.Affine(2 * LENGTH, 12, rng=rng)
        self.b = nn.Affine(12, 2, rng=rng)

    def forward(self, x):
        return self.b(mg.relu(self.a(x)))


seed = np.random.default_rng(0)
encoder, head = Encoder(seed), Head(seed)
optimizer = nn.AdamW(head.parameters(), lr=0.01, weight_decay=0.001)
schedule = nn.cosine_schedule(0.01, 600, warmup=20)
picker = np.random.default_rng(2)
for step in range(600):
    rows = picker.integers(0, 700, 64)
    encoder.zero_grad()
    head.zero_grad()
    loss = nn.cross_entropy(head(encoder(ids[rows])), first_is_greater[rows])
    loss.backward()
    optimizer.lr = schedule(step)
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step:3d}  loss {loss.item():.4f}")

with mg.no_grad():
    scores = head(encoder(ids[700:])).numpy()
print("unseen: accuracy", np.mean(scores.argmax(axis=1) == first_is_greater[700:]))
