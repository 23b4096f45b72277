"""Fit a sine with a hidden layer."""

import numpy as np

from minigrad import Tensor

rng = np.random.default_rng(100)
x = np.linspace(-3, 3, 150)[:, None]
y = np.sin(2 * x)

W1 = Tensor(rng.normal(0, 1.0, (1, 25)), requires_grad=True)
b1 = Tensor(rng.normal(0, 1.0, 25), requires_grad=True)
W2 = Tensor(rng.normal(0, 0.3, (25, 1)), requires_grad=True)
b2 = Tensor(np.zeros(1), requires_grad=True)

lr = 0.05
for epoch in range(1000):
    prediction = np.tanh(x @ W1 + b1) @ W2 + b2
    loss = ((prediction - y) ** 2).mean()
    for p in (W1, b1, W2, b2):
        p.zero_grad()
    loss.backward()
    for p in (W1, b1, W2, b2):
        p = p - lr * p.grad
    if epoch % 100 == 0:
        print(f"epoch {epoch}: loss {loss.item():.6f}")
