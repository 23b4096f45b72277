"""An autoencoder with a code of bits: forward a sign, backward the identity."""

import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(101)
prototypes = rng.normal(size=(8, 10))
signals = (prototypes[rng.integers(0, 8, 320)] + 0.1 * rng.normal(size=(320, 10))).astype(np.float32)

sign = mg.primitive(lambda x: np.sign(x), name="straight_sign").vjp(x=lambda g, x: g)


class BitCoder(nn.Module):
    def __init__(self, bits, rng):
        self.encode = nn.Affine(10, bits, rng=rng)
        self.decode = nn.Sequential(nn.Affine(bits, 32, rng=rng), np.tanh, nn.Affine(32, 10, rng=rng))

    def forward(self, x):
        return self.decode(sign(np.tanh(self.encode(x))))


model = BitCoder(5, rng)
optimizer = nn.Adam(model.parameters(), lr=0.003)
for step in range(600):
    rows = rng.integers(0, 320, 64)
    optimizer.zero_grad()
    loss = nn.mean_squared_error(model(signals[rows]), signals[rows])
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(step + 1, round(loss.item(), 4))
