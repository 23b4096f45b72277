"""How long a courier's round takes, from the stops of the round. Rounds are read in small portions, because depots send them so."""
import numpy as np
import minigrad as mg
import nn

PORTION, PORTIONS = 16, 16
rng = np.random.default_rng(14)


def rounds(n):
    stops = rng.integers(20, 120, n)
    lifts = rng.uniform(0, 1, n)
    distance = rng.gamma(4, 6, n)
    rain = rng.random(n) < 0.3
    rush = rng.uniform(-1, 1, n)
    minutes = 2.1 * stops * (1 + 0.4 * lifts) + 1.5 * distance * (1 + 0.5 * rush**2) + 25 * rain + rng.normal(0, 6, n)
    return np.column_stack([stops, lifts, distance, rain, rush]), minutes


x_train, y_train = rounds(2048)
x_test, y_test = rounds(600)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
middle, spread = y_train.mean(), y_train.std()
x_train, x_test = ((x - mean) / std for x in (x_train, x_test))
y_train, y_test = (y_train - middle) / spread, (y_test - middle) / spread

init = np.random.default_rng(2)
weights = [
    mg.Tensor(init.normal(size=(5, 20)) / 5**0.5, requires_grad=True), mg.Tensor(np.zeros(20), requires_grad=True),
    mg.Tensor(init.normal(size=(20, 1)) / 20**0.5, requires_grad=True), mg.Tensor(np.zeros(1), requires_grad=True),
]


def duration(x):
    W1, b1, W2, b2 = weights
    return (np.tanh(x @ W1 + b1) @ W2 + b2)[:, 0]


optimizer = nn.SGD(weights, lr=0.15, momentum=0.9)
for epoch in range(12):
    order = rng.permutation(len(x_train)).reshape(-1, PORTIONS, PORTION)
    for group in order:
        optimizer.zero_grad()
        value = 0.0
        for rows in group:
            loss = nn.huber_loss(duration(x_train[rows]), y_train[rows])
            loss.backward()
            value += loss.item() / PORTIONS
        optimizer.step()
    with mg.no_grad():
        off = np.abs(duration(x_test).numpy() - y_test).mean() * spread
    print(f"epoch {epoch:2}  loss {value:.3f}  minutes off {off:.1f}")
