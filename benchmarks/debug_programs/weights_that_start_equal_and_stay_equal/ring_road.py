"""Is a house inside the ring road? One hidden layer of 16 units."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(73)
houses = rng.uniform(-2, 2, (300, 2))
inside = (np.hypot(houses[:, 0], houses[:, 1]) < 1.3).astype(float)

HIDDEN = 16
params = {
    "W1": np.full((2, HIDDEN), 0.1),
    "b1": np.zeros(HIDDEN),
    "W2": np.full((HIDDEN, 1), 0.1),
    "b2": np.zeros(1),
}


def logit(params, x):
    hidden = np.tanh(x @ params["W1"] + params["b1"])
    return (hidden @ params["W2"] + params["b2"])[:, 0]


def loss(params, x, y):
    z = logit(params, x)
    return np.mean(np.maximum(z, 0) - z * y + np.log1p(np.exp(-np.abs(z))))


gradient = mg.value_and_grad(loss)
for step in range(800):
    value, grads = gradient(params, houses, inside)
    for name in params:
        params[name] = params[name] - 0.5 * grads[name]
    if step % 160 == 0:
        print(f"{step:4d}  {value:.4f}")
print(f"loss {value:.4f}  accuracy {np.mean((logit(params, houses) > 0) == inside):.3f}")
