import numpy as np

import minigrad as mg

rng = np.random.default_rng(8)


def samples(n):
    x = rng.normal(size=(n, 6))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] - 0.3 * x[:, 3]
    return x, y[:, None]


x_train, y_train = samples(800)
x_test, y_test = samples(200)
noise = np.random.default_rng(80)


def thin(h, keep):
    if keep == 1.0:
        return h
    return h * (noise.random(h.shape) < keep) / keep


def quality(p, x, keep):
    h = mg.relu(x @ p["w1"] + p["b1"])
    h = thin(h, keep)
    h = mg.relu(h @ p["w2"] + p["b2"])
    h = thin(h, keep)
    return h @ p["w3"] + p["b3"]


def loss(p, x, y, keep):
    return np.mean((quality(p, x, keep) - y) ** 2)


sizes = {"1": (6, 64), "2": (64, 64), "3": (64, 1)}
p = {}
for name, (a, b) in sizes.items():
    p["w" + name] = rng.normal(size=(a, b)) * np.sqrt(2 / a)
    p["b" + name] = np.zeros(b)

gradient = mg.value_and_grad(loss)
keep = 0.6
for step in range(1500):
    rows = rng.integers(0, 800, 64)
    value, g = gradient(p, x_train[rows], y_train[rows], keep)
    rate = 0.02 * (1 - step / 1500)
    p = mg.tree_map(lambda w, d: w - rate * d, p, g)
    if step % 250 == 0:
        print(f"{step:5d} {value:.3f}")

print("test error:", round(float(loss(p, x_test, y_test, keep)), 3))
print("one bottle, tasted three times:", [round(quality(p, x_test[:1], keep).item(), 2) for _ in range(3)])
