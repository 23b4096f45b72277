"""Bars or crosses in grey 8x8 pictures, with a network of one hidden layer on plain arrays."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(8)


def picture(kind):
    image = rng.integers(0, 60, (8, 8))
    row, column = rng.integers(1, 7, 2)
    if kind in (0, 2):
        image[row, :] += rng.integers(120, 190)
    if kind in (1, 2):
        image[:, column] += rng.integers(120, 190)
    return np.minimum(image, 255)


labels = rng.integers(0, 3, 600)
pixels = np.stack([picture(kind) for kind in labels]).reshape(600, 64).astype(np.float64)

W1, b1 = rng.normal(0, 0.3, (64, 32)), np.zeros(32)
W2, b2 = rng.normal(0, 0.3, (32, 3)), np.zeros(3)


def logits(weights, x):
    W1, b1, W2, b2 = weights
    hidden = mg.sigmoid(x @ W1 + b1)
    return hidden @ W2 + b2


def cost(weights, x, labels):
    return mg.cross_entropy(logits(weights, x), labels)


cost_and_gradient = mg.value_and_grad(cost)
weights = [W1, b1, W2, b2]
for epoch in range(40):
    for start in range(0, 500, 50):
        rows = slice(start, start + 50)
        value, gradient = cost_and_gradient(weights, pixels[rows], labels[rows])
        weights = [w - 0.5 * g for w, g in zip(weights, gradient, strict=True)]
    if epoch % 8 == 0:
        print(f"epoch {epoch:2d}: {value:.4f}")
right = logits(weights, pixels[500:]).argmax(axis=1) == labels[500:]
print(f"accuracy on new pictures: {right.mean():.2f}")
