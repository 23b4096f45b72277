"""Online regression, one row at a time: the loss of a single row jumps, the weights arrive."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(5)
truth = np.array([1.5, -2.0, 0.5])


def squared_error(params, x, y):
    w, b = params
    return (x @ w + b - y) ** 2


gradient = mg.value_and_grad(squared_error)
params = [np.zeros(3), np.array(0.0)]
recent = []
for step in range(1200):
    x = rng.normal(size=3)
    y = x @ truth + 1 + 0.3 * rng.normal()
    value, grads = gradient(params, x, y)
    rate = 0.1 / (1 + step / 100)
    params = [p - rate * g for p, g in zip(params, grads)]
    recent.append(float(value))
    if step % 200 == 199:
        print(f"{step + 1}: last {value:.3f}, mean of 200 {np.mean(recent[-200:]):.3f}")
print("weights", params[0].round(2), "bias", params[1].round(2))
