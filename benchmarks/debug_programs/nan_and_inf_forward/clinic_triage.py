import numpy as np

import minigrad as mg

# Which patients were admitted? Three measurements: age, heart rate, oxygen.
rng = np.random.default_rng(2)
n = 400
age = rng.uniform(18, 95, n)
pulse = rng.normal(82, 14, n)
oxygen = rng.normal(95, 3, n)
risk = 0.06 * (age - 60) + 0.05 * (pulse - 80) - 0.5 * (oxygen - 95)
admitted = (risk + rng.normal(0, 0.02, n) > 0).astype(np.float32)
X = np.stack([age, pulse, oxygen], axis=1)
X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)


def init(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers.append({"w": rng.normal(0, 1 / np.sqrt(a), (a, b)).astype(np.float32), "b": np.zeros(b, np.float32)})
    return layers


def probability(layers, x):
    for layer in layers[:-1]:
        x = np.tanh(x @ layer["w"] + layer["b"])
    z = x @ layers[-1]["w"] + layers[-1]["b"]
    return (1 / (1 + np.exp(-z)))[:, 0]


def loss_fn(layers, x, y):
    p = probability(layers, x)
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


layers = init([3, 16, 16, 1])
step_fn = mg.value_and_grad(loss_fn)
velocity = mg.tree_map(np.zeros_like, layers)
for step in range(600):
    rows = rng.choice(n, 64, replace=False)
    value, grads = step_fn(layers, X[rows], admitted[rows])
    velocity = mg.tree_map(lambda v, g: np.float32(0.9) * v - np.float32(1.2) * g, velocity, grads)
    layers = mg.tree_map(lambda p, v: p + v, layers, velocity)
    if step % 60 == 0:
        print(step, float(value))

decided = probability(layers, X) > 0.5
print("agreement", np.mean(decided == (admitted > 0.5)))
