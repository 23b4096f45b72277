"""Fit a waveform with a small sine network; the activation is one operation with its own rule."""
import numpy as np
import minigrad as mg
import nn

OMEGA = 12.0

sine = mg.primitive(lambda x: np.sin(OMEGA * x), name="sine").vjp(
    x=lambda g, x: g * np.cos(OMEGA * x),
)


class Siren(nn.Module):
    def __init__(self, width, rng):
        bound = np.sqrt(6 / width) / OMEGA
        self.first = nn.Affine(1, width, rng=rng)
        self.first.weight.data[...] = rng.uniform(-0.6, 0.6, (1, width))
        self.second = nn.Affine(width, width, rng=rng)
        self.second.weight.data[...] = rng.uniform(-bound, bound, (width, width))
        self.last = nn.Affine(width, 1, rng=rng)

    def forward(self, t):
        return self.last(sine(self.second(sine(self.first(t)))))


t = np.linspace(-1, 1, 128, dtype=np.float32)[:, None]
wave = np.sin(9 * t) * np.exp(-t * t) + 0.4 * np.sin(23 * t)

net = Siren(16, np.random.default_rng(7))
optimizer = nn.SGD(net.parameters(), lr=0.004, momentum=0.9)
for step in range(1500):
    optimizer.zero_grad()
    loss = nn.mean_squared_error(net(t), wave)
    loss.backward()
    optimizer.step()
    if step % 250 == 0:
        print(f"step {step:5d}  mse {loss.item():.5f}")
print("final mse", nn.mean_squared_error(net(t), wave).item())
