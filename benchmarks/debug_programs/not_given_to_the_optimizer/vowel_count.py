"""Count the vowels of a word: letters as vectors, added up, then a small network."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(17)
words = rng.integers(0, 26, (800, 7))
vowels = np.isin(words, [0, 4, 8, 14, 20]).sum(axis=1)

E = Tensor(rng.normal(size=(26, 3)) * 0.3, requires_grad=True)
W1 = Tensor(rng.normal(size=(3, 12)) * 0.5, requires_grad=True)
b1 = Tensor(np.zeros(12), requires_grad=True)
W2 = Tensor(rng.normal(size=12) * 0.3, requires_grad=True)
b2 = Tensor(1.0, requires_grad=True)
parameters = [W1, b1, W2, b2]

velocity = [np.zeros(p.shape) for p in parameters]
for step in range(300):
    rows = rng.integers(0, 800, 100)
    word = E[words[rows]].sum(axis=1)
    guess = np.tanh(word @ W1 + b1) @ W2 + b2
    loss = ((guess - vowels[rows]) ** 2).mean()
    loss.backward()
    for v, p in zip(velocity, parameters):
        v *= 0.9
        v += p.grad.numpy()
        p.data -= 0.02 * v
        p.zero_grad()
    if step % 50 == 49:
        print(f"step {step + 1}: {loss.item():.3f}")
