"""Count the peaks in short signals with one layer of local attention."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(5)
LENGTH, WIDTH, RADIUS = 14, 12, 2


def signals(count):
    lengths = rng.integers(6, LENGTH + 1, count)
    x = np.where(np.arange(LENGTH) < lengths[:, None], rng.normal(size=(count, LENGTH)), 0.0)
    peak = (x[:, 1:-1] > x[:, :-2]) & (x[:, 1:-1] > x[:, 2:]) & (np.arange(1, LENGTH - 1) < lengths[:, None] - 1)
    return x, lengths, peak.sum(axis=1) / 2.0


class Counter:
    def __init__(self):
        shapes = {"embed": (2 * RADIUS + 1, WIDTH), "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH)}
        self.weights = {n: mg.Tensor(rng.normal(0, s[0] ** -0.5, s), requires_grad=True) for n, s in shapes.items()}
        self.weights["out"] = mg.Tensor(rng.normal(0, 0.1, WIDTH), requires_grad=True)

    def __call__(self, x, lengths):
        w = self.weights
        padded = np.pad(x, ((0, 0), (RADIUS, RADIUS)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * RADIUS + 1, axis=1)
        h = np.tanh(windows @ w["embed"])
        position = np.arange(LENGTH)
        near = np.abs(position[:, None] - position) <= RADIUS
        real = position < lengths[:, None]
        visible = near & real[:, None, :]
        scores = (h @ w["q"]) @ (h @ w["k"]).mT / np.sqrt(WIDTH)
        attention = mg.softmax(np.where(visible, scores, -np.inf), axis=-1)
        mixed = h + attention @ (h @ w["v"])
        return ((mg.relu(mixed) @ w["out"]) * real).sum(axis=1)


model = Counter()
data = signals(320)
for step in range(400):
    rows = rng.integers(0, 320, 64)
    x, lengths, counts = (part[rows] for part in data)
    loss = ((model(x, lengths) - counts) ** 2).mean()
    loss.backward()
    for weight in model.weights.values():
        weight.data -= 0.003 * weight.grad
        weight.zero_grad()
    if step % 80 == 0:
        print(step, round(loss.item(), 4))
x, lengths, counts = signals(200)
print("error", np.mean((model(x, lengths).numpy() - counts) ** 2), "of a constant", counts.var())
