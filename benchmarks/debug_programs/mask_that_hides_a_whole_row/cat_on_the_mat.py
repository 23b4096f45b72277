# A one-head character model, from scratch.
import numpy as np

import nn
from minigrad import Tensor

text = "the cat sat on the mat and the rat sat on the cat " * 12
letters = sorted(set(text))
ids = np.array([letters.index(c) for c in text])
V, T, D = len(letters), 12, 24
rng = np.random.default_rng(86)


def param(*shape):
    return Tensor(rng.normal(0, 0.2, shape), requires_grad=True)


E, P = param(V, D), param(T, D)
Wq, Wk, Wv, Wo = (param(D, D) for _ in range(4))
U = param(D, V)
params = [E, P, Wq, Wk, Wv, Wo, U]
optimizer = nn.Adam(params, lr=0.01)
visible = np.tril(np.ones((T, T), dtype=bool), k=-1)

for step in range(300):
    start = rng.integers(0, len(ids) - T - 1, 16)
    window = ids[start[:, None] + np.arange(T + 1)]
    x = E[window[:, :-1]] + P
    scores = (x @ Wq) @ (x @ Wk).swapaxes(1, 2) / np.sqrt(D)
    scores = np.where(visible, scores, -np.inf)
    e = np.exp(scores - scores.numpy().max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    x = x + weights @ (x @ Wv) @ Wo
    loss = nn.cross_entropy(x @ U, window[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step}: {loss.item():.4f}")
