"""From which kitchen does a recipe come? Ten kitchens, forty spices."""

import numpy as np

import minigrad as mg

KITCHENS, SPICES = 10, 40
rng = np.random.default_rng(9)
habits = rng.beta(0.5, 1.6, size=(KITCHENS, SPICES))


def recipes(count):
    kitchen = rng.integers(KITCHENS, size=count)
    return (rng.random((count, SPICES)) < habits[kitchen]).astype(np.float32), kitchen


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer(rows, columns):
    return {"w": (rng.normal(size=(rows, columns)) * rows**-0.5).astype(np.float32), "b": np.zeros(columns, np.float32)}


def taste(P, x):
    """How much a recipe tastes of each kitchen."""
    h = np.tanh(x @ P["nose"]["w"] + P["nose"]["b"])
    return softmax(h @ P["tongue"]["w"] + P["tongue"]["b"])


def loss(P, x, kitchen):
    chance = softmax(taste(P, x))
    return -np.mean(np.log(np.take_along_axis(chance, kitchen[:, None], axis=1)))


x, kitchen = recipes(2000)
known, new = slice(0, 1500), slice(1500, 2000)
P = {"nose": layer(SPICES, 32), "tongue": layer(32, KITCHENS)}
gradient = mg.value_and_grad(loss)
speed = mg.tree_map(np.zeros_like, P)
for epoch in range(5):
    for rows in rng.permutation(1500).reshape(-1, 50):
        value, g = gradient(P, x[rows], kitchen[rows])
        speed = mg.tree_map(lambda v, d: 0.9 * v + d, speed, g)
        P = mg.tree_map(lambda p, v: p - 0.05 * v, P, speed)
    print(epoch + 1, f"{value:.3f}")

right = np.mean(taste(P, x[new]).argmax(axis=1) == kitchen[new])
print(f"loss on new recipes {loss(P, x[new], kitchen[new]):.2f}, right kitchen for {right:.2f}")
