"""Attention over friends: guess a member's favourite sport from the profiles."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(73)
n, d, sports = 150, 8, 3
favourite = rng.integers(0, sports, n)
profile = rng.normal(size=(sports, d))[favourite] * 1.3 + rng.normal(size=(n, d))
chance = np.where(favourite[:, None] == favourite[None, :], 0.03, 0.004)
A = np.triu(rng.random((n, n)) < chance, 1)
A = A | A.T

wq = rng.normal(size=(d, d)) / np.sqrt(d)
wk = rng.normal(size=(d, d)) / np.sqrt(d)
wv = rng.normal(size=(d, 12)) / np.sqrt(d)
wo = rng.normal(size=(12, sports)) / np.sqrt(12)


def logits(wq, wk, wv, wo):
    scores = (profile @ wq) @ (profile @ wk).T / np.sqrt(d)
    scores = np.where(A, scores, -1e9)
    mixed = mg.softmax(scores, axis=1) @ (profile @ wv)
    return np.tanh(mixed) @ wo


def loss(*w):
    return mg.cross_entropy(logits(*w), favourite)


value_and_slopes = mg.value_and_grad(loss, (0, 1, 2, 3))
weights = [wq, wk, wv, wo]
for epoch in range(200):
    value, slopes = value_and_slopes(*weights)
    weights = [w - 0.3 * s for w, s in zip(weights, slopes)]
    if epoch % 40 == 0:
        print(f"{epoch:3d} {value:.4f}")

hit = logits(*weights).argmax(axis=1) == favourite
print("loss", round(float(value), 4), "accuracy", hit.mean().round(3))
