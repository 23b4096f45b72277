"""A linear autoencoder whose decoder is the mirror image of its encoder, on plain arrays."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(71)
PIXELS, CODE = 16, 3

# pictures made of three patterns
patterns = np.linalg.qr(rng.normal(size=(PIXELS, CODE)))[0]
pictures = rng.normal(size=(300, CODE)) * [3.0, 2.0, 1.5] @ patterns.T + rng.normal(0, 0.1, (300, PIXELS))


def start():
    encoder = rng.normal(0, 0.2, (PIXELS, CODE))
    return {"encoder": encoder, "decoder": encoder.T.copy(), "middle": np.zeros(PIXELS)}


def rebuild(p, x):
    code = (x - p["middle"]) @ p["encoder"]
    return code @ p["decoder"] + p["middle"]


def loss(p, x):
    return np.mean(np.sum((rebuild(p, x) - x) ** 2, axis=1))


TRAINED = ("encoder", "middle")
params = start()
gradient_of = mg.value_and_grad(loss)
history = []
for step in range(800):
    batch = pictures[rng.integers(0, 250, 50)]
    value, gradient = gradient_of(params, batch)
    for name in TRAINED:
        params[name] = params[name] - 0.01 * gradient[name]
    history.append(float(value))
    if step % 100 == 0:
        print(f"step {step:3d}  error {value:.4f}")

rest = pictures[250:]
print("error on other pictures", loss(params, rest).round(4))
print("error without any network", np.sum((rest - rest.mean(axis=0)) ** 2, axis=1).mean().round(4))
print("best possible with three numbers, about", (0.01 * (PIXELS - CODE)))
