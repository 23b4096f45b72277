"""A deep multilayer perceptron that learns the height of a landscape."""

from itertools import pairwise

import numpy as np

import minigrad as mg

rng = np.random.default_rng(17)
places = rng.uniform(-1, 1, size=(256, 2))
height = np.sin(3 * places[:, 0]) * np.cos(2 * places[:, 1])

sizes = [2] + [32] * 14 + [1]
layers = []
for n_in, n_out in pairwise(sizes):
    W = rng.normal(0, 0.6, size=(n_in, n_out))
    layers.append({"W": W, "b": np.zeros(n_out)})


def predict(layers, x):
    for layer in layers[:-1]:
        x = mg.relu(x @ layer["W"] + layer["b"])
    return (x @ layers[-1]["W"] + layers[-1]["b"])[:, 0]


def loss_of(layers):
    return np.mean((predict(layers, places) - height) ** 2)


gradient_of = mg.value_and_grad(loss_of)
for epoch in range(200):
    loss, gradients = gradient_of(layers)
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d}: {float(loss):.5g}")
    for layer, g in zip(layers, gradients):
        for name in ("W", "b"):
            layer[name] = layer[name] - 0.005 * g[name]
