# One attention head over letters, written out, with a causal mask.
import numpy as np

import nn
from minigrad import Tensor, softmax

text = "she sells sea shells on the sea shore the shells she sells are sea shells for sure " * 8
letters = sorted(set(text))
ids = np.array([letters.index(c) for c in text])
V, T, D = len(letters), 16, 32
rng = np.random.default_rng(205)


def matrix(*shape):
    return Tensor(rng.normal(0, 0.2, shape), requires_grad=True)


E, P, U = matrix(V, D), matrix(T, D), matrix(D, V)
Q, K, W, O = (matrix(D, D) for _ in range(4))
optimizer = nn.Adam([E, P, U, Q, K, W, O], lr=0.01)
past = np.tril(np.ones((T, T), dtype=bool))
for step in range(200):
    start = rng.integers(0, len(ids) - T, 16)
    window = ids[start[:, None] + np.arange(T)]
    x = E[window] + P
    scores = np.where(past, (x @ Q) @ (x @ K).swapaxes(1, 2) / np.sqrt(D), -np.inf)
    x = x + softmax(scores, axis=-1) @ (x @ W) @ O
    logits = x @ U
    loss = nn.cross_entropy(logits[:, :-1], window[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: {loss.item():.4f}")
