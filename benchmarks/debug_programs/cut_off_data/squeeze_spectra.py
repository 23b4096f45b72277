"""Compress spectra of 40 channels to three numbers."""
import numpy as np
import nn
from minigrad import Tensor, gelu

rng = np.random.default_rng(28)
grid = np.linspace(0, 1, 40)
place, height, width = rng.uniform(0.15, 0.85, (300, 1)), rng.uniform(0.5, 1.5, (300, 1)), rng.uniform(0.05, 0.15, (300, 1))
spectra = height * np.exp(-(((grid - place) / width) ** 2)) + 0.01 * rng.normal(size=(300, 40))


class Squeeze(nn.Module):
    def __init__(self, rng):
        self.enc1 = nn.Affine(40, 24, rng=rng)
        self.enc2 = nn.Affine(24, 3, rng=rng)
        self.dec1 = nn.Affine(3, 24, rng=rng)
        self.dec2 = nn.Affine(24, 40, rng=rng)

    def encode(self, s):
        return self.enc2(gelu(self.enc1(s)))

    def decode(self, code):
        return self.dec2(gelu(self.dec1(code)))

    def forward(self, s):
        code = self.encode(s)
        return self.decode(code.data)


machine = Squeeze(rng)
trainer = nn.Adam(machine.parameters(), lr=0.005)
data = spectra.astype(np.float32)
for sweep in range(100):
    for start in range(0, 300, 50):
        part = data[start : start + 50]
        trainer.zero_grad()
        miss = nn.mean_squared_error(machine(part), part)
        miss.backward()
        trainer.step()
    if sweep % 25 == 0:
        print(f"sweep {sweep:2d}: {miss.item():.5f}")
print(f"explained: {1 - np.mean((machine(data).numpy() - data) ** 2) / data.var(axis=0).mean():.3f}")
