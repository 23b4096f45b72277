"""Metric learning with triplets: a fruit shall lie nearer to its own kind, by a margin."""
import numpy as np
from minigrad import Tensor

rng = np.random.default_rng(109)
kinds = 5
centres = rng.normal(size=(kinds, 12))
kind = rng.integers(0, kinds, 250)
fruits = centres[kind] + 0.5 * rng.normal(size=(250, 12))
members = [np.flatnonzero(kind == k) for k in range(kinds)]

M = Tensor(rng.normal(size=(12, 4)) * 0.15, requires_grad=True)


def triplet(n):
    anchor = rng.integers(0, 250, n)
    friend = np.array([rng.choice(members[kind[a]]) for a in anchor])
    stranger = np.array([rng.choice(np.flatnonzero(kind != kind[a])) for a in anchor])
    return fruits[anchor], fruits[friend], fruits[stranger]


def squared(a, b):
    return (((a - b) @ M) ** 2).sum(axis=1)


losses, silent = [], 0
for step in range(300):
    a, f, s = triplet(24)
    hinge = np.maximum(1.0 + squared(a, f) - squared(a, s), 0)
    loss = hinge.mean()
    loss.backward()
    M.data -= 0.1 * M.grad
    M.zero_grad()
    losses.append(loss.item())
    silent += losses[-1] == 0

code = fruits @ M.numpy()
near = ((code[:, None] - code[None]) ** 2).sum(-1)
np.fill_diagonal(near, np.inf)
print("loss", np.round([losses[0], losses[50], np.mean(losses[-50:])], 4), "steps without any violation:", silent)
print("nearest neighbour is of the same kind:", (kind[near.argmin(1)] == kind).mean())
