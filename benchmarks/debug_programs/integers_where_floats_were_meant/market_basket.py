"""Guess the kind of a customer from the shares of six goods in the basket."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(37)
habits = rng.dirichlet(np.full(6, 0.8), size=3)
kinds = rng.integers(0, 3, 700)
counts = np.stack([rng.multinomial(rng.integers(8, 30), habits[k]) for k in kinds])


def shares(counts):
    """Each row divided by its sum."""
    result = np.zeros_like(counts)
    totals = counts.sum(axis=1)
    for i in range(len(counts)):
        result[i] = counts[i] / totals[i]
    return result


x = shares(counts)
w1, b1 = rng.normal(0, 0.5, (6, 16)), np.zeros(16)
w2, b2 = rng.normal(0, 0.5, (16, 3)), np.zeros(3)


def loss(params, x, k):
    w1, b1, w2, b2 = params
    return mg.cross_entropy(np.tanh(x @ w1 + b1) @ w2 + b2, k)


params = [w1, b1, w2, b2]
value_and_grad = mg.value_and_grad(loss)
for epoch in range(60):
    for k in range(0, 600, 50):
        value, grads = value_and_grad(params, x[k : k + 50], kinds[k : k + 50])
        params = [p - 0.5 * g for p, g in zip(params, grads)]
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d}  {float(value):.4f}")

w1, b1, w2, b2 = params
guess = (np.tanh(x[600:] @ w1 + b1) @ w2 + b2).argmax(axis=1)
print("recognised:", np.mean(guess == kinds[600:]))
