"""Large batches in four pieces: the gradients of the pieces add up, and then one step is made."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(211)
X = rng.uniform(-2, 2, size=(512, 2))
Y = np.sin(X[:, :1]) * X[:, 1:]
params = [
    Tensor(rng.normal(0, 0.7, (2, 32)), requires_grad=True),
    Tensor(np.zeros(32), requires_grad=True),
    Tensor(rng.normal(0, 0.2, (32, 1)), requires_grad=True),
    Tensor(np.zeros(1), requires_grad=True),
]


def network(x):
    W1, b1, W2, b2 = params
    return np.tanh(x @ W1 + b1) @ W2 + b2


pieces = 4
for step in range(400):
    rows = rng.integers(0, 512, (pieces, 32))
    total = 0.0
    for piece in rows:
        loss = ((network(X[piece]) - Y[piece]) ** 2).mean() / pieces
        loss.backward()
        total += loss.item()
    for p in params:
        p.data -= 0.1 * p.grad
        p.zero_grad()
    if step % 40 == 0:
        print(f"step {step}: {total:.4f}")
