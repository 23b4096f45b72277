"""Squeeze a curve into four small whole numbers, and draw it again from them."""

import numpy as np

import nn


class Codec(nn.Module):
    def __init__(self, n, rng):
        self.encode1 = nn.Affine(n, 32, rng=rng)
        self.encode2 = nn.Affine(32, 4, rng=rng)
        self.decode1 = nn.Affine(4, 32, rng=rng)
        self.decode2 = nn.Affine(32, n, rng=rng)

    def forward(self, x):
        code = 8 * np.tanh(self.encode2(np.tanh(self.encode1(x))))
        code = code.astype(np.int32) / 8
        return self.decode2(np.tanh(self.decode1(code.astype(np.float32))))


rng = np.random.default_rng(23)
t = np.linspace(0, 1, 24)
height, place, width = rng.uniform(-2, 2, (3, 400, 1))
curves = (height * np.exp(-((t - place / 4 - 0.5) ** 2) / (0.02 + 0.02 * np.abs(width)))).astype(np.float32)

codec = Codec(24, rng)
optimizer = nn.Adam(codec.parameters(), lr=0.005)
for epoch in range(60):
    for x in np.split(curves[rng.permutation(400)], 8):
        optimizer.zero_grad()
        loss = ((codec(x) - x) ** 2).mean()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: error {((codec(curves) - curves) ** 2).mean().item():.4f} of {curves.var():.4f}")
