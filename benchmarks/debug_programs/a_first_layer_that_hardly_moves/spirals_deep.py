import numpy as np
import minigrad as mg

g = np.random.default_rng(70)
N = 500
t = np.sqrt(g.uniform(0, 1, N)) * 3.0
s = np.arange(N) % 2
X = np.stack([t * np.cos(2 * t + np.pi * s), t * np.sin(2 * t + np.pi * s)], 1) / 2 + 0.05 * g.normal(size=(N, 2))
X_te, s_te, X, s = X[400:], s[400:], X[:400], s[:400]

SIZES = [2, 20, 20, 20, 20, 20, 1]
P = [(g.normal(0, 0.25, (m, n)), np.zeros(n)) for m, n in zip(SIZES, SIZES[1:])]


def net(P, x):
    for W, b in P[:-1]:
        x = 1 / (1 + np.exp(-(x @ W + b)))
    W, b = P[-1]
    return (x @ W + b)[:, 0]


def bce(P, x, y):
    z = net(P, x)
    return (np.logaddexp(0, z) - y * z).mean()


f = mg.value_and_grad(bce)
V = mg.tree_map(np.zeros_like, P)
for k in range(751):
    i = g.integers(0, 400, 50)
    c, d = f(P, X[i], s[i])
    V = mg.tree_map(lambda v, q: 0.9 * v - 0.05 * q, V, d)
    P = mg.tree_map(np.add, P, V)
    if k % 150 == 0:
        print(k, round(float(c), 4))
print("train", round(float(bce(P, X, s)), 4), "test accuracy", np.mean((net(P, X_te) > 0) == s_te))
