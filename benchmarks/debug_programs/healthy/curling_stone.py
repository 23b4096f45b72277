# How far does a curling stone slide? Plain gradient descent with Nesterov's look-ahead and a rate that is not shy.
import numpy as np
import minigrad as mg

r = np.random.default_rng(400)
throws = 150
speed = r.uniform(1.5, 3.0, throws)
spin = r.uniform(-1, 1, throws)
frost = r.uniform(0, 1, throws)
metres = speed ** 2 / (2 * 9.81 * (0.012 + 0.01 * frost)) + 0.8 * spin

X = np.stack([speed, spin, frost], 1)
X = (X - X.mean(0)) / X.std(0)
Y = (metres - metres.mean()) / metres.std()


def slide(p, X):
    return (np.tanh(X @ p["W"] + p["b"]) @ p["v"] + p["c"])


def loss(p):
    return np.mean((slide(p, X) - Y) ** 2)


p = {"W": r.normal(0, 0.6, (3, 14)), "b": np.zeros(14), "v": r.normal(0, 0.3, 14), "c": np.zeros(())}
velocity = mg.tree_map(np.zeros_like, p)
RATE, KEEP = 0.12, 0.9
descend = mg.value_and_grad(loss)
for k in range(400):
    ahead = mg.tree_map(lambda a, v: a + KEEP * v, p, velocity)
    value, g = descend(ahead)
    velocity = mg.tree_map(lambda v, d: KEEP * v - RATE * d, velocity, g)
    p = mg.tree_map(lambda a, v: a + v, p, velocity)
    if k < 10 or k % 80 == 0:
        print(k, round(float(value), 5))
print("end", round(float(loss(p)), 6))
