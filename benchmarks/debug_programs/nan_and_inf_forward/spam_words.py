"""Is a message spam? Logistic regression in float32 on counts of words."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(21)
WORDS = 40
spam = rng.integers(0, 2, 500)
usual = rng.uniform(0.1, 1.0, WORDS)
lures = np.where(np.arange(WORDS) < 12, 2.0, 0.0)
counts = rng.poisson(usual + spam[:, None] * lures).astype(np.float32)
answer = spam.astype(np.float32)


def probability(weights, x):
    w, b = weights
    return mg.sigmoid(x @ w + b)


def loss(weights, x, y):
    p = probability(weights, x)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


weights = (np.zeros(WORDS, np.float32), np.float32(0.0))
differentiate = mg.value_and_grad(loss)
rate = np.float32(0.4)
chooser = np.random.default_rng(0)
for step in range(500):
    rows = chooser.integers(0, 400, 40)
    value, (dw, db) = differentiate(weights, counts[rows], answer[rows])
    weights = (weights[0] - rate * dw, np.float32(weights[1] - rate * db))
    if step % 50 == 0:
        print(f"{step:4d} {float(value):.5f}")

guess = probability(weights, counts[400:]) > 0.5
print("right on new messages:", np.mean(guess == (spam[400:] == 1)))
print("largest weight:", float(np.abs(weights[0]).max()))
