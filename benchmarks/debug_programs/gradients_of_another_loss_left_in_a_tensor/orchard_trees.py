"""Predict the yield of apple trees, and watch meanwhile which measurement the network relies on."""

import minigrad as mg
import nn
import numpy as np

NAMES = ["age", "rain", "frost", "bees", "soil"]


def trees(n, rng):
    x = rng.normal(size=(n, 5)).astype(np.float32)
    y = 1.5 * np.tanh(x[:, 0]) + 0.8 * x[:, 1] - 1.0 * (x[:, 2] > 0.5) + 0.6 * x[:, 3] * x[:, 1]
    return x, (y + rng.normal(0, 0.1, n)).astype(np.float32)


class Yield(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(5, 32, rng=rng)
        self.second = nn.Affine(32, 32, rng=rng)
        self.output = nn.Affine(32, 1, rng=rng)

    def forward(self, x):
        return self.output(np.tanh(self.second(np.tanh(self.first(x)))))[:, 0]


class Watch:
    """How much the predictions change with each measurement."""

    def __init__(self, x):
        self.x = x
        self.rows = []

    def look(self, model):
        x = mg.Tensor(self.x, requires_grad=True)
        model(x).mean().backward()
        self.rows.append(np.abs(x.grad.numpy()).sum(axis=0))


rng = np.random.default_rng(23)
x, y = trees(1500, rng)
x_new, y_new = trees(500, rng)
model, watch = Yield(rng), Watch(x_new)
optimizer = nn.SGD(model.parameters(), lr=0.02, momentum=0.9)
batches = nn.Batches([x, y], 50, seed=0)
for epoch in range(15):
    total = 0.0
    for inputs, apples in batches.epoch(epoch):
        loss = nn.mean_squared_error(model(inputs), apples)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        watch.look(model)
        total += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d}  loss {total / len(batches):.4f}")

with mg.no_grad():
    error = np.sqrt(np.mean((model(x_new).numpy() - y_new) ** 2))
print(f"error on other trees {error:.3f}, their yield varies by {y_new.std():.3f}")
print("relies on:", ", ".join(f"{n} {v:.2f}" for n, v in zip(NAMES, watch.rows[-1])))
