"""A sine network that stores a short waveform."""
import numpy as np
import nn
from minigrad import Function, Tensor

OMEGA = 12.0


class Sine(Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return np.sin(OMEGA * z)

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g * np.cos(OMEGA * z)


class SineNet(nn.Module):
    def __init__(self, width, rng):
        bound = np.sqrt(6 / width) / OMEGA
        self.first = nn.Parameter(rng.uniform(-1, 1, (1, width)))
        self.shift = nn.Parameter(rng.uniform(-0.2, 0.2, width))
        self.second = nn.Parameter(rng.uniform(-bound, bound, (width, width)))
        self.third = nn.Parameter(rng.uniform(-bound, bound, (width, width)))
        self.readout = nn.Parameter(rng.uniform(-0.2, 0.2, (width, 1)))

    def forward(self, t):
        h = Sine.apply(t @ self.first + self.shift)
        h = Sine.apply(h @ self.second)
        h = Sine.apply(h @ self.third)
        return h @ self.readout


rng = np.random.default_rng(8)
t = np.linspace(-1, 1, 160)[:, None]
wave = np.sin(9 * t) * np.exp(-t * t) + 0.5 * np.sign(np.sin(23 * t))

net = SineNet(32, rng)
opt = nn.SGD(net.parameters(), lr=0.001, momentum=0.9)
for it in range(600):
    opt.zero_grad()
    loss = ((net(t) - wave) ** 2).mean()
    loss.backward()
    opt.step()
    if it % 150 == 0:
        print(f"{it:4d}  {loss.item():.5f}")
print(f"end   {loss.item():.5f}")
