"""A variational autoencoder of buttons: round and square ones of different size, 10 by 10 points."""

import minigrad as mg
import numpy as np

SIDE, LATENT, HIDDEN, BATCH = 10, 3, 48, 64
rng = np.random.default_rng(14)
across, down = np.meshgrid(np.linspace(-1, 1, SIDE), np.linspace(-1, 1, SIDE))


def buttons(n):
    size = rng.uniform(0.3, 1.0, (n, 1, 1))
    square = rng.random((n, 1, 1)) < 0.5
    reach = np.where(square, np.maximum(np.abs(across), np.abs(down)), np.hypot(across, down))
    return (1 / (1 + np.exp(12 * (reach - size)))).reshape(n, -1)


def layer(a, b):
    return [rng.normal(0, a**-0.5, (a, b)), np.zeros(b)]


def encode(p, x):
    h = np.tanh(x @ p["enc"][0] + p["enc"][1])
    both = h @ p["code"][0] + p["code"][1]
    return both[:, :LATENT], both[:, LATENT:]


def decode(p, z):
    h = np.tanh(z @ p["dec"][0] + p["dec"][1])
    return mg.sigmoid(h @ p["out"][0] + p["out"][1])


def loss(p, x, noise):
    mean, log_var = encode(p, x)
    picture = decode(p, mean + np.exp(log_var / 2) * noise)
    rebuilt = np.sum((picture - x) ** 2) / (2 * 0.2**2) / len(x)
    prior = 0.5 * np.sum(np.exp(log_var) + mean**2 - 1 - log_var)
    return (rebuilt + prior) / SIDE**2


p = {
    "enc": layer(SIDE**2, HIDDEN),
    "code": layer(HIDDEN, 2 * LATENT),
    "dec": layer(LATENT, HIDDEN),
    "out": layer(HIDDEN, SIDE**2),
}
first, second = mg.tree_map(np.zeros_like, p), mg.tree_map(np.zeros_like, p)
gradient = mg.value_and_grad(loss)
for t in range(1, 901):
    value, g = gradient(p, buttons(BATCH), rng.normal(size=(BATCH, LATENT)))
    for name, arrays in p.items():
        for k in range(2):
            first[name][k] = 0.9 * first[name][k] + 0.1 * g[name][k]
            second[name][k] = 0.99 * second[name][k] + 0.01 * g[name][k] ** 2
            size = np.sqrt(second[name][k] / (1 - 0.99**t)) + 1e-8
            arrays[k] = arrays[k] - 0.003 * first[name][k] / (1 - 0.9**t) / size
    if t % 300 == 0:
        print(f"{t:5d}  {float(value):.3f}")
x = buttons(500)
mean, _ = encode(p, x)
miss = decode(p, mean) - x
print(f"rebuilt with an error of {np.sqrt(np.mean(miss**2)):.3f}; pictures vary by {x.std(axis=0).mean():.3f}")
print("spread of the codes:", mean.std(axis=0).round(3))
