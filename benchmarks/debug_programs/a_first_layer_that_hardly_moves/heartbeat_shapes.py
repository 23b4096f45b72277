"""Tells three kinds of heartbeats apart by their shape, 40 samples around the peak. The recorder writes microvolts."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(31)
TIME = np.linspace(-1, 1, 40)


def record(n):
    """Beats in microvolts, as the recorder stores them, with their kinds."""
    kind = rng.integers(3, size=n)
    width = np.array([0.09, 0.2, 0.09])[kind] * rng.uniform(0.8, 1.25, n)
    dip = np.array([0.25, 0.5, 0.25])[kind]
    early = np.array([0.0, 0.0, -0.25])[kind] + rng.normal(0, 0.05, n)
    wave = np.exp(-((TIME - 0.1 * early[:, None]) ** 2) / (2 * width[:, None] ** 2))
    wave -= dip[:, None] * np.exp(-((TIME - 0.35) ** 2) / 0.02)
    wave += 0.3 * np.exp(-((TIME + 0.55 - early[:, None]) ** 2) / 0.02)
    return 1100.0 * (wave + rng.normal(0, 0.12, wave.shape)), kind


def load(n):
    microvolts, kind = record(n)
    millivolts = microvolts / 1000
    return millivolts.astype(np.float32), kind


def prepare(beats):
    """Around zero, in millivolts."""
    beats = beats - beats.mean(axis=1, keepdims=True)
    return beats / 1000


class Beats(nn.Module):
    def __init__(self, rng):
        self.shapes = nn.Affine(40, 32, rng=rng)
        self.mix = nn.Affine(32, 16, rng=rng)
        self.kinds = nn.Affine(16, 3, rng=rng)

    def forward(self, x):
        return self.kinds(mg.relu(self.mix(mg.relu(self.shapes(x)))))


def accuracy(model, x, kind):
    with mg.no_grad():
        return np.mean(model(x).numpy().argmax(axis=1) == kind)


(train_x, train_kind), (test_x, test_kind) = load(1200), load(600)
train_x, test_x = prepare(train_x), prepare(test_x)

model = Beats(np.random.default_rng(1))
optimizer = nn.SGD(model.parameters(), lr=0.05, momentum=0.9)
batches = nn.Batches([train_x, train_kind], 40, seed=6)
for epoch in range(12):
    total = 0.0
    for x, kind in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x), kind)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, f"{total / len(batches):.3f}", f"{accuracy(model, test_x, test_kind):.3f}")
