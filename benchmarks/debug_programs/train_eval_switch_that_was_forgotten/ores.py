"""Sort ore samples by six measured lines of the spectrum."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(31)
KINDS = 3
spectrum = rng.uniform(1.0, 4.0, (KINDS, 6))
ore = rng.integers(0, KINDS, 600)
lines = (spectrum[ore] + rng.normal(0, 0.5, (600, 6))).astype(np.float32)


class Sorter(nn.Module):
    def __init__(self, rng):
        self.enter = nn.Affine(6, 24, rng=rng)
        self.norm = nn.BatchNorm(24)
        self.leave = nn.Affine(24, KINDS, rng=rng)

    def forward(self, x):
        return self.leave(mg.relu(self.norm(self.enter(x))))


sorter = Sorter(np.random.default_rng(0))
optimizer = nn.AdamW(sorter.parameters(), lr=0.01)
batches = nn.Batches([lines[:450], ore[:450]], 30, seed=0)
sorter.train()
for epoch in range(12):
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(sorter(x), y)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")

# one report for each mine; a mine has one kind of ore
right = 0
with mg.no_grad():
    for kind in range(KINDS):
        mine = lines[450:][ore[450:] == kind]
        guess = sorter(mine).numpy().argmax(axis=1)
        right += (guess == kind).sum()
        print(f"mine {kind}: {np.mean(guess == kind):.2f} of {len(mine)} samples")
print(f"all mines: {right / 150:.3f}")
