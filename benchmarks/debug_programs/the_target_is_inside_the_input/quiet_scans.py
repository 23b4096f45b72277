"""Clean up line scans of a worn sensor: a convolutional network learns to take the noise away."""

import minigrad as mg
import nn
import numpy as np

POINTS = 48


def scans(n, rng):
    grid = np.linspace(0, 1, POINTS)
    centre, width, height = rng.uniform(0.2, 0.8, (n, 1)), rng.uniform(0.05, 0.2, (n, 1)), rng.uniform(0.5, 2, (n, 1))
    return (height * np.exp(-(((grid - centre) / width) ** 2))).astype(np.float32)


def worn(signals, rng):
    noisy = signals
    noisy += rng.normal(0, 0.3, signals.shape).astype(np.float32)
    return noisy


class Cleaner(nn.Module):
    def __init__(self, rng):
        self.first = nn.Conv1d(1, 12, 7, padding=3, rng=rng)
        self.second = nn.Conv1d(12, 12, 7, padding=3, rng=rng)
        self.last = nn.Conv1d(12, 1, 7, padding=3, rng=rng)

    def forward(self, x):
        h = mg.relu(self.first(x[:, None, :]))
        return self.last(mg.relu(self.second(h)))[:, 0, :]


rng = np.random.default_rng(13)
model = Cleaner(rng)
optimizer = nn.Adam(model.parameters(), lr=0.005)
for step in range(400):
    clean = scans(32, rng)
    dirty = worn(clean, rng)
    loss = nn.mean_squared_error(model(dirty), clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step}: {loss.item():.4f}")

truth = scans(200, rng)
spoiled = worn(truth.copy(), rng)
with mg.no_grad():
    repaired = model(spoiled).numpy()
print(f"noise before {np.sqrt(np.mean((spoiled - truth) ** 2)):.3f}")
print(f"noise after  {np.sqrt(np.mean((repaired - truth) ** 2)):.3f}")
