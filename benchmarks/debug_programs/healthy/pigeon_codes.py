"""A pigeon carries eight flags, up or down, for a weather report of ten numbers. Flags pass the slope of tanh back."""
import numpy as np
import minigrad as mg
import nn


def raise_flags(x):
    soft = np.tanh(x)
    hard = np.where(soft.numpy() > 0, 1.0, -1.0).astype(np.float32)
    return soft + (hard - mg.stop_gradient(soft))


class Pigeon(nn.Module):
    def __init__(self, numbers, flags, rng):
        self.write = nn.Affine(numbers, flags, rng=rng)
        self.read = nn.Sequential(nn.Affine(flags, 24, rng=rng), mg.relu, nn.Affine(24, numbers, rng=rng))

    def forward(self, report):
        return self.read(raise_flags(self.write(report)))


rng = np.random.default_rng(26)
patterns = rng.standard_normal((6, 10)).astype(np.float32)
reports = (rng.choice([-1, 1], (300, 6)) @ patterns / 2.5).astype(np.float32)
pigeon = Pigeon(10, 8, rng)
optimizer = nn.Adam(pigeon.parameters(), lr=0.01)
for flight in range(500):
    rows = rng.choice(300, 50, replace=False)
    optimizer.zero_grad()
    loss = nn.mean_squared_error(pigeon(reports[rows]), reports[rows])
    loss.backward()
    optimizer.step()
    if flight % 100 == 0:
        print(f"flight {flight}: {loss.item():.4f}")
with mg.no_grad():
    print(f"in the end {nn.mean_squared_error(pigeon(reports), reports).item():.4f} of {reports.var():.4f}")
