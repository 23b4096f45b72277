"""A bell's strike note, from the profile that the founder cuts. The gradients travel to the second machine as float16."""

import numpy as np

import minigrad as mg

SCALE = 4096.0                                                  # keeps small gradients above the smallest float16


def bells(count, rng):
    width = rng.uniform(0.4, 1.6, count)                        # metres
    thick = width * rng.uniform(0.065, 0.085, count)
    waist = rng.uniform(0.5, 0.6, count)
    tin = rng.uniform(0.18, 0.24, count)
    note = 12 * np.log2(thick / width**2 * 5) + 20 * (waist - 0.55) ** 2 * 50 - 30 * (tin - 0.21)
    note = note + rng.normal(0, 0.3, count)                     # semitones
    return np.column_stack([width, thick, waist, tin]), note


def predict(p, x):
    h = np.tanh(x @ p["w1"] + p["b1"])
    return (h @ p["w2"] + p["b2"])[:, 0]


def loss(p, x, y):
    return np.mean((predict(p, x) - y) ** 2)


def packed(gradients):
    return {name: (g * SCALE).astype(np.float16) for name, g in gradients.items()}


class Receiver:
    """Adam on the second machine: it gets packed gradients and keeps the weights."""

    def __init__(self, p, lr):
        self.p, self.lr, self.t = p, lr, 0
        self.m, self.v = mg.tree_map(np.zeros_like, p), mg.tree_map(np.zeros_like, p)

    def receive(self, gradients):
        self.t += 1
        for name, g in gradients.items():
            square = g**2
            self.m[name] = 0.9 * self.m[name] + 0.1 * g / np.float32(SCALE)
            self.v[name] = 0.999 * self.v[name] + 0.001 * square / np.float32(SCALE**2)
            size = np.sqrt(self.v[name] / (1 - 0.999**self.t)) + 1e-8
            self.p[name] = self.p[name] - self.lr * self.m[name] / (1 - 0.9**self.t) / size


rng = np.random.default_rng(28)
x, note = bells(900, rng)
x = ((x - x[:700].mean(axis=0)) / x[:700].std(axis=0)).astype(np.float32)
y = ((note - note[:700].mean()) / note[:700].std()).astype(np.float32)
start = {
    "w1": rng.normal(size=(4, 24)) * 0.5, "b1": np.zeros(24), "w2": rng.normal(size=(24, 1)) * 0.2, "b2": np.zeros(1),
}
receiver = Receiver(mg.tree_map(np.float32, start), lr=0.01)
gradient = mg.value_and_grad(loss)
for step in range(500):
    rows = rng.integers(0, 700, 64)
    value, g = gradient(receiver.p, x[rows], y[rows])
    receiver.receive(packed(g))
    if step % 100 == 0:
        print(step, f"{value:.3f}")
error = predict(receiver.p, x[700:]) - y[700:]
print(f"off by {np.abs(error).mean() * note[:700].std():.2f} semitones for new bells")
