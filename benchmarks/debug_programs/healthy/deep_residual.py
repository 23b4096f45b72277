"""Sixteen residual layers with normalisation: deep, and no gradient vanishes."""

import numpy as np

import nn


class Block(nn.Module):
    def __init__(self, width, rng):
        self.norm = nn.LayerNorm(width)
        self.inner = nn.FeedForward(width, 2 * width, rng=rng)

    def forward(self, x):
        return x + 0.25 * self.inner(self.norm(x))


rng = np.random.default_rng(228)
x = rng.uniform(-1, 1, (400, 2)).astype(np.float32)
y = (np.sin(5 * x[:, 0]) > 2 * x[:, 1]).astype(np.int64)
model = nn.Sequential(nn.Affine(2, 16, rng=rng), *(Block(16, rng) for _ in range(16)), nn.Affine(16, 2, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=0.003)
for epoch in range(12):
    for rows in np.split(rng.permutation(400), 8):
        loss = nn.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {nn.cross_entropy(model(x), y).item():.4f}")
