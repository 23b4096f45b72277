"""How high does the kite fly? The wind, the string and the weight, and one hidden layer."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(51)
X = rng.normal(size=(200, 3))
y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2]


def init(*sizes):
    return [(rng.normal(size=(a, b)) / np.sqrt(a), np.zeros(b)) for a, b in sizes]


def predict(layers, x):
    for W, b in layers[:-1]:
        x = np.tanh(x @ W + b)
    W, b = layers[-1]
    return (x @ W + b)[:, 0]


def loss(layers, x, y):
    return np.mean((predict(layers, x) - y) ** 2)


rate = 0.4
layers = init((3, 20), (20, 1))
gradient = mg.value_and_grad(loss)
for step in range(400):
    value, grads = gradient(layers, X, y)
    layers = [(W - rate * dW, b - rate * db) for (W, b), (dW, db) in zip(layers, grads)]
    if step % 40 == 0 or step > 395:
        print(f"{step}: {value:.4f}")
