"""Codes of twelve bits for images of blobs. The threshold passes the slope of a clipped line."""

import numpy as np

import minigrad as mg
import nn


def _bit(x, /):
    return (x > 0).astype(x.dtype)


bit = mg.primitive(_bit, name="bit").vjp(x=lambda g, x: g * (np.abs(x) < 1))


class BitCoder(nn.Module):
    def __init__(self, pixels, bits, rng):
        self.encode = nn.Sequential(nn.Affine(pixels, 48, rng=rng), np.tanh, nn.Affine(48, bits, rng=rng))
        self.decode = nn.Sequential(nn.Affine(bits, 48, rng=rng), np.tanh, nn.Affine(48, pixels, rng=rng))

    def forward(self, x):
        return self.decode(bit(self.encode(x)))


def blobs(rng, n, side=7):
    centre = rng.uniform(1, side - 2, (n, 2, 1, 1))
    rows, columns = np.mgrid[:side, :side]
    far = (rows - centre[:, 0]) ** 2 + (columns - centre[:, 1]) ** 2
    return np.exp(-far / 3).reshape(n, -1).astype(np.float32)


rng = np.random.default_rng(61)
images, fresh = blobs(rng, 600), blobs(rng, 200)
model = BitCoder(49, 12, rng)
optimizer = nn.Adam(model.parameters(), lr=4e-3)
for step in range(600):
    x = images[rng.integers(0, 600, 50)]
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(x), x)
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"{step:4d}  {loss.item():.5f}")

error = nn.mean_squared_error(model(fresh), fresh).item()
print(f"error on fresh blobs {error:.5f}, variance {fresh.var():.5f}")
