"""Who runs here? A shoe sensor gives twelve numbers for each stride; each of 40 runners of the club has a vector of their own."""
import numpy as np
import minigrad as mg
import nn

RUNNERS, NUMBERS = 40, 12
rng = np.random.default_rng(77)
style = rng.normal(size=(RUNNERS, NUMBERS))


def strides(n):
    who = rng.integers(RUNNERS, size=n)
    tired = rng.uniform(0, 1, (n, 1))
    return (style[who] * (1 - 0.3 * tired) + 0.55 * rng.normal(size=(n, NUMBERS))).astype(np.float32), who


def unit(x):
    return x / np.sqrt((x**2).sum(axis=-1, keepdims=True) + 1e-6)


class Club(nn.Module):
    def __init__(self, width, rng):
        self.first = nn.Affine(NUMBERS, 48, rng=rng)
        self.second = nn.Affine(48, width, rng=rng)
        self.runners = nn.Parameter(rng.normal(size=(RUNNERS, width)).astype(np.float32))

    def forward(self, x):
        stride = unit(self.second(mg.relu(self.first(x))))
        return stride @ unit(self.runners).T


def train(model, x, who, epochs):
    optimizer = nn.Adam(model.parameters(), lr=0.004)
    batches = nn.Batches([x, who], 100, seed=0)
    for epoch in range(epochs):
        total = 0.0
        for some, label in batches.epoch(epoch):
            optimizer.zero_grad()
            loss = nn.cross_entropy(model(some), label)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, round(total / len(batches), 3))


x_train, who_train = strides(4000)
x_test, who_test = strides(1000)
club = Club(16, np.random.default_rng(1))
train(club, x_train, who_train, epochs=12)
with mg.no_grad():
    logits = club(x_test)
print("test loss", round(nn.cross_entropy(logits, who_test).item(), 3))
print("right", np.mean(logits.numpy().argmax(axis=1) == who_test))
print("more than half sure", np.mean(mg.softmax(logits, axis=-1).numpy().max(axis=1) > 0.5))
