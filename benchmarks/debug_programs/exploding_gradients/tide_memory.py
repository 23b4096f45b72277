"""Predict the next tide from the last 16, with a linear state and a linear readout."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(2)
WIDTH, LENGTH = 24, 16
hours = np.arange(900)
tides = np.sin(hours / 6.2) + 0.4 * np.sin(hours / 3.1 + 1) + 0.05 * rng.normal(size=900)
windows = np.stack([tides[i : i + LENGTH] for i in range(800)])
nexts = tides[LENGTH : LENGTH + 800]

params = {
    "A": rng.normal(size=(WIDTH, WIDTH)),
    "B": rng.normal(size=(1, WIDTH)) * 0.3,
    "c": rng.normal(size=WIDTH) * 0.1,
}


def mse(params, x, y):
    state = np.zeros((len(x), WIDTH))
    for t in range(LENGTH):
        state = state @ params["A"] + x[:, t : t + 1] @ params["B"]
    return np.mean((state @ params["c"] - y) ** 2)


step = mg.value_and_grad(mse)
for epoch in range(6):
    for start in range(0, 800, 40):
        batch = slice(start, start + 40)
        value, grads = step(params, windows[batch], nexts[batch])
        norm = np.sqrt(sum(np.sum(g**2) for g in grads.values()))
        scale = 0.02 * min(1.0, 5 / norm)
        params = {k: params[k] - scale * grads[k] for k in params}
    print(f"epoch {epoch}: mse {value:.5g}")
