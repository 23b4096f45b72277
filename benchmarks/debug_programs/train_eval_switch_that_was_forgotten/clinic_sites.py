"""Outcome of a treatment; the test set arrives sorted by outcome."""

import numpy as np
import minigrad as mg
import nn


class Outcome(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(6, 16, rng=rng)
        self.norm = nn.BatchNorm(16)
        self.second = nn.Affine(16, 2, rng=rng)

    def forward(self, x):
        return self.second(mg.relu(self.norm(self.first(x))))


rng = np.random.default_rng(37)
outcome = rng.integers(0, 2, 400)
patients = (rng.normal(size=(400, 6)) + (outcome[:, None] - 0.5) * 2).astype(np.float32)
later = np.repeat([0, 1], 50)
newcomers = (rng.normal(size=(100, 6)) + (later[:, None] - 0.5) * 2).astype(np.float32)

model = Outcome(rng)
optimizer = nn.AdamW(model.parameters(), lr=0.01)
for epoch in range(15):
    model.train()
    for x, y in nn.Batches([patients, outcome], 40, seed=2).epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

right = 0
for start in range(0, 100, 25):
    logits = model(newcomers[start : start + 25])
    right += int((logits.numpy().argmax(axis=1) == later[start : start + 25]).sum())
print(f"training loss {loss.item():.3f}, right {right} of 100")
