"""The height of a tower from its shadow, its age and its width."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(19)
X = np.abs(rng.normal(size=(256, 3)))
heights = 100 + 40 * X[:, 0] + 25 * X[:, 1] * X[:, 2] + 2 * rng.normal(size=256)

params = {
    "W1": rng.normal(size=(3, 24)) * 0.5,
    "b1": np.zeros(24),
    "w2": rng.normal(size=24) * 0.2,
    "b2": 0.0,
}


def network(p, x):
    hidden = mg.relu(x @ p["W1"] + p["b1"])
    return hidden @ p["w2"] + p["b2"]


def loss(p, x, y):
    return np.mean((network(p, x) - y) ** 2)


lr = 0.05
step = mg.value_and_grad(loss)
for i in range(1500):
    value, grad = step(params, X, heights)
    params = {k: params[k] - lr * grad[k] for k in params}
    if i % 250 == 0:
        print(f"{i:5d}: {value:10.2f}")
print(f"final {value:.2f}; spread of the predictions {np.std(network(params, X)):.2f}")
