"""Find the value that belongs to the asked key: one attention, written by hand."""

import numpy as np

import minigrad as mg
from minigrad import Tensor

KEYS, VALUES, PAIRS, WIDTH = 12, 6, 8, 16
rng = np.random.default_rng(58)


def table(*shape):
    return Tensor(rng.normal(0, 0.5, shape), requires_grad=True)


class Finder:
    def __init__(self):
        self.keys, self.values, self.asked = table(KEYS, WIDTH), table(VALUES, WIDTH), table(KEYS, WIDTH)
        self.wq, self.wk, self.out = table(WIDTH, WIDTH), table(WIDTH, WIDTH), table(WIDTH, VALUES)
        self.weights = [self.keys, self.values, self.asked, self.wq, self.wk, self.out]

    def __call__(self, keys, values, asked):
        q = self.asked[asked] @ self.wq
        k = self.keys[keys] @ self.wk
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(WIDTH)
        share = mg.softmax(scores, axis=1)
        return (share @ self.values[values]) @ self.out


def questions(n):
    keys = np.stack([rng.permutation(KEYS)[:PAIRS] for _ in range(n)])
    values = rng.integers(0, VALUES, (n, PAIRS))
    picked = rng.integers(0, PAIRS, (n, 2))
    rows = np.arange(n)[:, None]
    return keys, values, keys[rows, picked], values[rows, picked]


finder = Finder()
state = [(np.zeros(w.shape), np.zeros(w.shape)) for w in finder.weights]
for step in range(1, 501):
    keys, values, asked, answer = questions(40)
    loss = mg.cross_entropy(finder(keys, values, asked), answer)
    loss.backward()
    for w, (m, v) in zip(finder.weights, state):
        g = w.grad.numpy()
        m += 0.1 * (g - m)
        v += 0.01 * (g * g - v)
        w.data -= 0.01 * m / (np.sqrt(v) + 1e-8)
        w.zero_grad()
    if step % 100 == 0:
        print(step, round(loss.item(), 3))

keys, values, asked, answer = questions(300)
print("found:", np.mean(finder(keys, values, asked).numpy().argmax(axis=-1) == answer).round(3))
