"""How many bikes are free at the station? A straight line through the hour, the temperature and the rain."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(14)
weather = rng.normal(size=(300, 3))
bikes = np.round(12 + weather @ [3.0, -2.0, 4.0] + rng.normal(size=300))


def predict(params, x):
    w, b = params
    return np.round(x @ w + b)


def loss(params, x, y):
    return np.mean((predict(params, x) - y) ** 2)


params = [np.zeros(3), np.array(0.0)]
gradient = mg.value_and_grad(loss)
for step in range(150):
    value, grads = gradient(params, weather, bikes)
    params = [p - 0.1 * g for p, g in zip(params, grads)]
    if step % 30 == 0:
        print(f"step {step:3d}  loss {value:.3f}")
print("bikes at the mean weather:", params[1], " weights:", np.round(params[0], 2))
