"""The energy of a freight train on a section of the line. Memory is short, so a step is made from eight portions."""
import numpy as np
import minigrad as mg
import nn

PORTIONS, PORTION = 8, 16
rng = np.random.default_rng(83)


def sections(n):
    tons = rng.uniform(400, 2400, n)
    climb = rng.normal(0, 6, n)
    speed = rng.uniform(50, 110, n)
    stops = rng.poisson(0.4, n)
    wind = rng.normal(0, 5, n)
    energy = tons * (0.01 + 0.0025 * np.clip(climb, -2, None)) + 0.004 * (speed + wind) ** 2 + 0.006 * tons * stops
    return np.column_stack([tons, climb, speed, stops, wind]), energy + rng.normal(0, 1.5, n)


x_train, y_train = sections(2048)
x_test, y_test = sections(500)
mean, std, middle, spread = x_train.mean(axis=0), x_train.std(axis=0), y_train.mean(), y_train.std()
x_train, x_test = (x_train - mean) / std, (x_test - mean) / std
y_train = (y_train - middle) / spread

init = np.random.default_rng(4)
W1 = mg.Tensor(init.normal(size=(5, 24)) / 5**0.5, requires_grad=True)
b1 = mg.Tensor(np.zeros(24), requires_grad=True)
W2 = mg.Tensor(init.normal(size=(24, 1)) / 24**0.5, requires_grad=True)
b2 = mg.Tensor(np.zeros(1), requires_grad=True)
parameters = [W1, b1, W2, b2]


def energy(x):
    return (np.tanh(x @ W1 + b1) @ W2 + b2)[:, 0]


optimizer = nn.SGD(parameters, lr=0.05, momentum=0.9)
for epoch in range(12):
    total = 0.0
    for group in rng.permutation(len(x_train)).reshape(-1, PORTIONS, PORTION):
        optimizer.zero_grad()
        for rows in group:
            loss = ((energy(x_train[rows]) - y_train[rows]) ** 2).mean() / PORTIONS
            loss.backward()
            total += loss.item()
        optimizer.step()
    if epoch % 3 == 2:
        with mg.no_grad():
            off = np.abs(energy(x_test).numpy() * spread + middle - y_test).mean()
        print(f"epoch {epoch + 1}  loss {total / 16:.4f}  off by {off:.2f} of {spread:.2f}")
