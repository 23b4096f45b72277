import numpy as np
import minigrad as mg
import nn

# A claim names one of eight drawers of a cupboard by its label; the answer is the drawer's content.
rng = np.random.default_rng(161)
LABELS, CONTENTS, DRAWERS, D = 12, 5, 8, 64


def cupboard(n):
    labels = np.argsort(rng.random((n, LABELS)), axis=1)[:, :DRAWERS]
    contents = rng.integers(0, CONTENTS, (n, DRAWERS))
    pick = rng.integers(0, DRAWERS, n)
    rows = np.arange(n)
    return labels, contents, labels[rows, pick], contents[rows, pick]


class Finder(nn.Module):
    def __init__(self, rng):
        self.label = nn.Embedding(LABELS, D, rng=rng)
        self.claim = nn.Embedding(LABELS, D, rng=rng)
        self.content = nn.Embedding(CONTENTS, D, rng=rng)
        self.q, self.k = nn.Affine(D, D, rng=rng), nn.Affine(D, D, rng=rng)
        self.out = nn.Affine(D, CONTENTS, rng=rng)

    def forward(self, labels, contents, claim):
        q = self.q(self.claim(claim))[:, None, :]
        k = self.k(self.label(labels))
        scores = (q * k).sum(axis=-1) * np.sqrt(np.float32(D))
        weights = mg.softmax(scores, axis=-1)
        return self.out((weights[:, :, None] * self.content(contents)).sum(axis=1))


model = Finder(np.random.default_rng(6))
optimizer = nn.Adam(model.parameters(), lr=0.002)
for step in range(400):
    labels, contents, claim, answer = cupboard(64)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(labels, contents, claim), answer)
    loss.backward()
    optimizer.step()
    if step % 80 == 79:
        print("step", step + 1, "loss", round(loss.item(), 4))

labels, contents, claim, answer = cupboard(500)
print("found:", np.mean(model(labels, contents, claim).numpy().argmax(axis=1) == answer))
