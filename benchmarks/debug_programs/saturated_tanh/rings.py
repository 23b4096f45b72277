import numpy as np
import minigrad as mg

rng = np.random.default_rng(22)
N, D, H = 300, 30, 60
labels = rng.integers(0, 2, N)
angle = rng.uniform(0, 2 * np.pi, N)
radius = 1.0 + 1.2 * labels + 0.15 * rng.normal(size=N)
plane = np.linalg.qr(rng.normal(size=(D, 2)))[0]
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1) @ plane.T * 2 + 0.3 * rng.normal(size=(N, D))


def start(fan_in, fan_out):
    return rng.normal(size=(fan_in, fan_out)) * 3


params = {
    "A": start(D, H), "a": np.zeros(H),
    "B": start(H, H), "b": np.zeros(H),
    "C": start(H, H), "c": np.zeros(H),
    "out": rng.normal(size=H) / np.sqrt(H),
}


def score(p, x):
    h = np.tanh(x @ p["A"] + p["a"])
    h = np.tanh(h @ p["B"] + p["b"])
    h = np.tanh(h @ p["C"] + p["c"])
    return h @ p["out"]


def loss(p, x, y):
    s = score(p, x)
    return np.mean(np.logaddexp(0, s) - y * s)


train, test = np.arange(200), np.arange(200, N)
step = mg.value_and_grad(loss)
for i in range(401):
    value, grads = step(params, points[train], labels[train])
    params = {name: params[name] - 0.1 * grads[name] for name in params}
    if i % 100 == 0:
        print(f"step {i:4d}: {value:.4f}")
print("right on new points:", ((score(params, points[test]) > 0) == labels[test]).mean())
