# Are the brackets of a string balanced? A GRU reads it letter by letter.
import numpy as np

import nn
from minigrad import Tensor

rng = np.random.default_rng(16)
LENGTH = 14


def strings(n):
    steps = np.where(rng.random((n, LENGTH)) < 0.5, 1, -1)
    steps[: n // 2] = np.sort(steps[: n // 2], axis=1)[:, ::-1]
    half = np.repeat([1, -1], LENGTH // 2)
    for row in range(n // 2):
        good = rng.permutation(half)
        while np.cumsum(good).min() < 0:
            good = rng.permutation(half)
        steps[row] = good
    balanced = (np.cumsum(steps, axis=1).min(axis=1) >= 0) & (steps.sum(axis=1) == 0)
    return steps, balanced.astype(np.int64)


cell = nn.GRUCell(2, 12, rng=rng)
output = nn.Affine(12, 2, rng=rng)
optimizer = nn.Adam([*cell.parameters(), *output.parameters()], lr=0.02)
steps, balanced = strings(512)
x = np.stack([steps == 1, steps == -1], axis=2).astype(np.float32)

for epoch in range(20):
    order = rng.permutation(512)
    for start in range(0, 512, 64):
        rows = order[start : start + 64]
        h = Tensor(np.zeros((64, 12), np.float32))
        for t in range(LENGTH):
            h = cell(x[rows, t], h.detach())
        loss = nn.cross_entropy(output(h), balanced[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 2 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}")
