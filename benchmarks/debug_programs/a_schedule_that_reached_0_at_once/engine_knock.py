import numpy as np
from minigrad import Tensor
import nn

# Three kinds of knocking of an engine, heard for twenty instants; a recurrent network by hand.
rng = np.random.default_rng(26)
INSTANTS, HIDDEN = 20, 24


def sounds(n):
    kind = rng.integers(0, 3, n)
    period = np.array([3.0, 4.2, 6.0])[kind] * rng.uniform(0.94, 1.06, n)
    start = rng.uniform(0, 2 * np.pi, n)
    t = np.arange(INSTANTS)
    wave = np.sin(2 * np.pi * t / period[:, None] + start[:, None])
    return wave + rng.normal(0, 0.25, wave.shape), kind


class Recurrent:
    def __init__(self):
        q, _ = np.linalg.qr(rng.normal(size=(HIDDEN, HIDDEN)))
        self.Wx = Tensor(rng.normal(0, 0.5, (1, HIDDEN)), requires_grad=True)
        self.Wh = Tensor(0.95 * q, requires_grad=True)
        self.bh = Tensor(np.zeros(HIDDEN), requires_grad=True)
        self.Wo = Tensor(rng.normal(0, 0.2, (HIDDEN, 3)), requires_grad=True)
        self.bo = Tensor(np.zeros(3), requires_grad=True)

    def __call__(self, wave):
        h = np.zeros((len(wave), HIDDEN))
        for t in range(INSTANTS):
            h = np.tanh(wave[:, t : t + 1] @ self.Wx + h @ self.Wh + self.bh)
        return h @ self.Wo + self.bo


wave, kind = sounds(600)
wave_new, kind_new = sounds(300)
net = Recurrent()
opt = nn.Adam([net.Wx, net.Wh, net.bh, net.Wo, net.bo], lr=0.01)
for epoch in range(12):
    order = rng.permutation(600)
    for k in range(0, 600, 30):
        rows = order[k : k + 30]
        opt.zero_grad()
        loss = nn.cross_entropy(net(wave[rows]), kind[rows])
        loss.backward()
        opt.step()
        opt.lr *= 0.8
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item():.4f}")

right = net(wave_new).numpy().argmax(axis=1) == kind_new
print(f"loss {loss.item():.4f}, kinds of knocking told apart: {np.mean(right):.3f}")
