"""Dye recipes for a dyer whose spoon holds a quarter of a gram: a network proposes whole spoons for a wanted colour."""

import numpy as np

import minigrad as mg

DYES = np.array([[0.9, 0.25, 0.1], [0.1, 0.7, 0.3], [0.05, 0.3, 0.95], [0.5, 0.5, 0.5]])      # what each absorbs of r, g, b
SPOON = 0.25


def colour(grams):
    return np.exp(-(grams @ DYES))


def in_spoons(grams):
    """Whole spoons. The derivative is that of the unrounded amount."""
    return grams + mg.stop_gradient(np.round(grams / SPOON) * SPOON - grams)


def softplus(x):
    return np.logaddexp(0, x)


def recipe(P, wanted):
    h = np.tanh(wanted @ P["w1"] + P["b1"])
    return in_spoons(softplus(h @ P["w2"] + P["b2"]))


def loss(P, wanted):
    return np.mean((colour(recipe(P, wanted)) - wanted) ** 2)


rng = np.random.default_rng(44)
wanted = colour(rng.gamma(1.5, 0.4, size=(1000, 4)))
P = {
    "w1": rng.normal(size=(3, 32)), "b1": np.zeros(32),
    "w2": rng.normal(size=(32, 4)) * 32**-0.5, "b2": np.zeros(4),
}
gradient = mg.value_and_grad(loss)
mean, square = mg.tree_map(np.zeros_like, P), mg.tree_map(np.zeros_like, P)
for t in range(1, 451):
    rows = rng.integers(0, 800, 64)
    value, g = gradient(P, wanted[rows])
    lr = 0.02 * (1 - t / 500)
    for name in P:
        mean[name] = 0.9 * mean[name] + 0.1 * g[name]
        square[name] = 0.99 * square[name] + 0.01 * g[name] ** 2
        size = np.sqrt(square[name] / (1 - 0.99**t)) + 1e-8
        P[name] = P[name] - lr * mean[name] / (1 - 0.9**t) / size
    if t % 150 == 0:
        print(t, f"{value:.5f}")

spoons = recipe(P, wanted[800:]) / SPOON
print(f"new colours: error {loss(P, wanted[800:]):.5f}, spread of colours {wanted[800:].var():.5f}")
print("spoons for three of them:", np.round(spoons[:3]).astype(int).tolist())
