import numpy as np

import nn
from minigrad import relu

# Points of the same group close together, others at least 2 apart; the distance has a small constant under the root.
rng = np.random.default_rng(229)
group = rng.integers(0, 3, 240)
x = (rng.normal(size=(3, 9))[group] + 0.4 * rng.normal(size=(240, 9))).astype(np.float32)
embed = nn.Sequential(nn.Affine(9, 24, rng=rng), np.tanh, nn.Affine(24, 2, rng=rng))
optimizer = nn.Adam(embed.parameters(), lr=0.01)
for step in range(300):
    i, j = rng.integers(0, 240, (2, 48))
    difference = embed(x[i]) - embed(x[j])
    distance = np.sqrt((difference**2).sum(axis=1) + 1e-8)
    same = group[i] == group[j]
    loss = np.where(same, distance**2, relu(2 - distance) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step}: {loss.item():.4f}")
