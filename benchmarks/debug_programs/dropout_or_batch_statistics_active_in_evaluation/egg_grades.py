"""Sorts hens' eggs into four grades from six measures of a candling lamp."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(19)
GRADES = ["A", "B", "small", "rejected"]
typical = rng.normal(0, 1.2, size=(4, 6))


def eggs(count):
    grade = rng.integers(4, size=count)
    measures = typical[grade] + rng.normal(0, 0.8, size=(count, 6))
    return measures.astype(np.float32), grade


class Sorter(nn.Module):
    def __init__(self, rng):
        self.first, self.norm = nn.Affine(6, 24, rng=rng), nn.BatchNorm(24)
        self.second = nn.Affine(24, 4, rng=rng)

    def forward(self, x):
        return self.second(mg.relu(self.norm(self.first(x))))


def by_grade(model, x, grade):
    """The share of right answers, for each grade by itself."""
    shares = []
    with mg.no_grad():
        for number in range(len(GRADES)):
            guess = model(x[grade == number]).numpy().argmax(axis=1)
            shares.append(np.mean(guess == number))
    return shares


x, grade = eggs(1300)
centre, spread = x[:900].mean(axis=0), x[:900].std(axis=0)
x = (x - centre) / spread
model = Sorter(np.random.default_rng(3))
optimizer = nn.AdamW(model.parameters(), lr=0.01)
batches = nn.Batches([x[:900], grade[:900]], 45, seed=6)
for epoch in range(10):
    model.train()
    for measures, labels in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(measures), labels)
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        print(epoch + 1, f"loss {loss.item():.3f}")

shares = by_grade(model, x[900:], grade[900:])
for name, share in zip(GRADES, shares):
    print(f"{name}: {share:.2f}")
print(f"all: {np.mean(shares):.2f}")
