# Snow depth at the stations of a cable car, from altitude, month and slope.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(11)
n = 200
altitude = rng.uniform(400, 2900, n)
month = rng.integers(0, 12, n)
slope = rng.uniform(0, 40, n)
winter = np.cos(2 * np.pi * (month - 1) / 12)
depth = np.maximum(0, 0.9 * (altitude - 1200) / 1000 + 0.8 * winter) + 0.1 * rng.normal(size=n)

features = np.stack([altitude, winter, slope], axis=1)
held = rng.permutation(n)[:50]
keep = np.setdiff1d(np.arange(n), held)


def network(p, x):
    for W, b in p[:-1]:
        x = mg.relu(x @ W + b)
    W, b = p[-1]
    return (x @ W + b)[:, 0]


def cost(p, x, y):
    return np.mean((network(p, x) - y) ** 2)


sizes = [3, 24, 24, 1]
p = [(rng.normal(size=(a, b)) * np.sqrt(2 / a), np.zeros(b)) for a, b in zip(sizes, sizes[1:])]
f = mg.value_and_grad(cost)
lr = 1e-2
for epoch in range(150):
    value, g = f(p, features[keep], depth[keep])
    norm = np.sqrt(sum((a ** 2).sum() for pair in g for a in pair))
    shrink = lr * min(1.0, 100.0 / norm)
    p = mg.tree_map(lambda a, d: a - shrink * d, p, g)
    if epoch % 25 == 0:
        print(epoch, value)

rest = network(p, features[held]) - depth[held]
print("R2 on other stations:", 1 - np.mean(rest ** 2) / np.var(depth[held]))
