"""Signal lanterns: which of six flags does an 8 x 8 picture show? A network on plain arrays."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(21)
flags = rng.integers(0, 256, (6, 64))
kind = rng.integers(0, 6, 1200)
pictures = np.clip(flags[kind] + rng.normal(0, 70, (1200, 64)), 0, 255).astype(np.uint8)
shades = pictures / 255.0


def batch_of(index):
    x = shades[index] / 255.0
    return x, kind[index]


def scores(p, x):
    hidden = np.maximum(x @ p["w1"] + p["b1"], 0)
    return hidden @ p["w2"] + p["b2"]


def loss(p, x, y):
    return -mg.log_softmax(scores(p, x))[np.arange(len(y)), y].mean()


params = {
    "w1": rng.normal(0, np.sqrt(2 / 64), (64, 48)), "b1": np.zeros(48),
    "w2": rng.normal(0, np.sqrt(2 / 48), (48, 6)), "b2": np.zeros(6),
}
step_of = mg.value_and_grad(loss)
rate = 0.1
for step in range(900):
    x, y = batch_of(rng.integers(0, 1000, 40))
    value, slopes = step_of(params, x, y)
    params = {name: params[name] - rate * slopes[name] for name in params}
    if step % 150 == 149:
        x, y = batch_of(np.arange(1000, 1200))
        print(step + 1, f"loss {value:.3f}  right {np.mean(scores(params, x).argmax(axis=1) == y):.2f}")
