"""Recognise a melody that is played on two instruments: a contrastive loss on a sphere."""

import minigrad as mg
import nn
import numpy as np

NOTES, BATCH, SHARP = 16, 64, 10.0
rng = np.random.default_rng(51)
flute, violin = rng.normal(0, 0.4, (2, 6, NOTES))


def melodies(n):
    theme = rng.normal(size=(n, 6)).astype(np.float32)
    heard = [np.tanh(theme @ timbre) + rng.normal(0, 0.05, (n, NOTES)) for timbre in (flute, violin)]
    return [sound.astype(np.float32) for sound in heard]


class Ear(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(NOTES, 64, rng=rng)
        self.output = nn.Affine(64, 12, rng=rng)

    def forward(self, x):
        z = self.output(np.tanh(self.hidden(x)))
        return z / np.sqrt((z * z).sum(axis=1, keepdims=True))


class Pair(nn.Module):
    def __init__(self, rng):
        self.left, self.right = Ear(rng), Ear(rng)

    def forward(self, a, b):
        return self.left(a) @ self.right(b).T * SHARP


model = Pair(rng)
optimizer = nn.AdamW(model.parameters(), lr=0.005)
same = np.arange(BATCH)
for step in range(601):
    score = model(*melodies(BATCH))
    loss = (nn.cross_entropy(score, same) + nn.cross_entropy(score.T, same)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 150 == 0:
        print(f"{step:4d} {loss.item():.3f}")
model.eval()
with mg.no_grad():
    best = model(*melodies(200)).numpy().argmax(axis=1)
print(f"found among 200: {np.mean(best == np.arange(200)):.3f}")
