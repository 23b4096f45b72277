"""Compress small image patches to three numbers and paint them again."""

import numpy as np

import nn


class AutoEncoder(nn.Module):
    def __init__(self, size, code, rng):
        self.down = nn.Sequential(nn.Affine(size, 32, rng=rng), np.tanh, nn.Affine(32, code, rng=rng))
        self.up = nn.Sequential(nn.Affine(code, 32, rng=rng), np.tanh, nn.Affine(32, size, rng=rng))
        self.last_code = None

    def forward(self, x):
        code = self.down(x)
        self.last_code = code = code.detach()
        return self.up(code)


rng = np.random.default_rng(13)
grid = np.arange(8)
angle, phase, frequency = rng.uniform(0, np.pi, 500), rng.uniform(0, 6, 500), rng.uniform(0.4, 0.9, 500)
row, column = np.meshgrid(grid, grid, indexing="ij")
waves = np.cos(angle)[:, None, None] * row + np.sin(angle)[:, None, None] * column
patches = np.sin(frequency[:, None, None] * waves + phase[:, None, None]).reshape(500, 64).astype(np.float32)

model = AutoEncoder(64, 3, rng)
optimizer = nn.AdamW(model.parameters(), lr=0.005)
for epoch in range(25):
    order = rng.permutation(500)
    total = 0.0
    for rows in np.split(order, 10):
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(patches[rows]), patches[rows])
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  error {total:.4f}  spread of the codes {model.last_code.numpy().std():.2f}")
