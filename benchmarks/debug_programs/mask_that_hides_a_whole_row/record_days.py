"""For each day the largest amount so far, with one layer of causal attention written by hand."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(41)
DAYS, WIDTH = 8, 16
amounts = rng.uniform(-1, 1, (256, DAYS))
largest = np.maximum.accumulate(amounts, axis=1)

visible = np.tril(np.ones((DAYS, DAYS), bool), k=-1)
hide = np.where(visible, 0.0, -np.inf)

params = {name: rng.normal(size=(WIDTH, WIDTH)) / 4 for name in ("Q", "K", "V")}
params["embed"] = rng.normal(size=(2, WIDTH)) * 0.7
params["out"] = rng.normal(size=WIDTH) / 4


def forward(p, amounts):
    x = np.stack([amounts, np.ones_like(amounts)], axis=-1) @ p["embed"]
    q, k, v = x @ p["Q"], x @ p["K"], x @ p["V"]
    scores = q @ k.swapaxes(1, 2) / 4 + hide
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return np.tanh(x + weights @ v) @ p["out"]


def loss(p, amounts, largest):
    return ((forward(p, amounts) - largest) ** 2).mean()


step = mg.value_and_grad(loss)
for i in range(201):
    value, grad = step(params, amounts, largest)
    params = {k: params[k] - 0.2 * grad[k] for k in params}
    if i % 40 == 0:
        print(f"{i}: {value:.4f}")
