"""Ill or not, from the activity of 100 genes."""

import numpy as np

import nn

rng = np.random.default_rng(105)


def patients(n):
    genes = rng.normal(size=(n, 100)).astype(np.float32)
    chance = 1 / (1 + np.exp(-1.5 * genes[:, 0]))
    return genes, (rng.random(n) < chance).astype(np.int64)


x, y = patients(60)
x_val, y_val = patients(300)

model = nn.Sequential(nn.Affine(100, 64, rng=rng), nn.functional.relu, nn.Affine(64, 2, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(100):
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 9:
        val_loss = nn.cross_entropy(model(x_val), y_val)
        print(f"epoch {epoch + 1:3d}  train {loss.item():.4f}  validation {val_loss.item():.4f}")
