"""Puts socks of the wash into pairs: a network learns when two photographs show the same pattern."""

import numpy as np

import minigrad as mg
import nn

PATTERNS, FEATURES = 40, 16
rng = np.random.default_rng(22)
looks = rng.normal(size=(PATTERNS, 6))                          # what a pattern looks like
camera = rng.normal(size=(6, FEATURES)) * 0.5
nuisance = rng.normal(size=(5, FEATURES)) * 0.9                 # light, wrinkles, and how the sock lies


def photographs(pattern):
    count = len(pattern)
    x = looks[pattern] @ camera + rng.normal(size=(count, 5)) @ nuisance + 0.1 * rng.normal(size=(count, FEATURES))
    return (x / 2).astype(np.float32)


class Eye(nn.Module):
    def __init__(self, rng):
        self.hidden = nn.Affine(FEATURES, 48, rng=rng)
        self.output = nn.Affine(48, 8, rng=rng)

    def forward(self, x):
        return self.output(mg.relu(self.hidden(x)))


def distance(a, b):
    return ((a - b) ** 2).sum(axis=1)


def wash(count):
    """Three photographs: a sock, its partner, and a sock of another pair."""
    own = rng.integers(30, size=count)
    other = (own + rng.integers(1, 30, size=count)) % 30
    return photographs(own), photographs(own), photographs(other)


def loss(model, batch, margin=1.0):
    sock, partner, stranger = (model(part) for part in batch)
    return (distance(sock, partner) - distance(sock, stranger) + margin).mean()


def found(model):
    """For new patterns: how often is the partner the nearest of ten socks?"""
    right = 0
    model.eval()
    with mg.no_grad():
        for _ in range(50):
            first, second = photographs(np.arange(30, 40)), photographs(np.arange(30, 40))
            a, b = model(first).numpy(), model(second).numpy()
            right += np.sum(((a[:, None] - b[None]) ** 2).sum(axis=-1).argmin(axis=1) == np.arange(10))
    model.train()
    return right / 500


model = Eye(np.random.default_rng(0))
optimizer = nn.Adam(model.parameters(), lr=0.003)
print(f"before: {found(model):.2f}")
for step in range(250):
    optimizer.zero_grad()
    value = loss(model, wash(64))
    value.backward()
    optimizer.step()
    if step % 50 == 49:
        print(step + 1, f"{value.item():.3f}")
print(f"after: {found(model):.2f}")
