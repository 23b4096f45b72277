"""A differentiable dictionary: look up the value that belongs to a noisy key."""
import math

import numpy as np
import nn
import minigrad as mg

rng = np.random.default_rng(13)
DIM, PAIRS, CLASSES = 48, 8, 6


class Lookup(nn.Module):
    def __init__(self, rng):
        self.query = nn.Affine(DIM, DIM, rng=rng, bias=False)
        self.key = nn.Affine(DIM, DIM, rng=rng, bias=False)
        self.names = nn.Embedding(CLASSES, DIM, rng=rng)
        self.answer = nn.Affine(DIM, CLASSES, rng=rng)

    def forward(self, asked, keys, values):
        q = self.query(asked)[:, None, :]
        k = self.key(keys)
        scores = (q @ k.swapaxes(1, 2)) * math.sqrt(DIM)
        found = mg.softmax(scores, axis=-1) @ self.names(values)
        return self.answer(found[:, 0])


def questions(n):
    keys = rng.normal(size=(n, PAIRS, DIM)) * 2
    values = rng.integers(0, CLASSES, (n, PAIRS))
    which = rng.integers(0, PAIRS, n)
    asked = keys[np.arange(n), which] * 0.6 + rng.normal(size=(n, DIM))
    return asked.astype(np.float32), keys.astype(np.float32), values, values[np.arange(n), which]


book = Lookup(rng)
opt = nn.SGD(book.parameters(), lr=0.05, momentum=0.9)
for step in range(300):
    asked, keys, values, right = questions(64)
    opt.zero_grad()
    loss = nn.cross_entropy(book(asked, keys, values), right)
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(step, round(loss.item(), 3))

asked, keys, values, right = questions(1000)
print("found:", (book(asked, keys, values).numpy().argmax(1) == right).mean())
