"""Kinds of tea from a near-infrared spectrum, with dropout against the many channels."""
import numpy as np
import nn
from minigrad import relu

rng = np.random.default_rng(111)
CHANNELS, KINDS = 60, 4
curves = np.cumsum(rng.normal(size=(KINDS, CHANNELS)), axis=1) * 0.12


def spectra(n):
    kind = rng.integers(0, KINDS, n)
    return (curves[kind] + 0.6 * rng.normal(size=(n, CHANNELS))).astype(np.float32), kind


class TeaNet(nn.Module):
    def __init__(self):
        self.norm = nn.BatchNorm(CHANNELS)
        self.hidden = nn.Affine(CHANNELS, 40, rng=rng)
        self.dropout = nn.Dropout(0.5, rng=rng)
        self.kinds = nn.Affine(40, KINDS, rng=rng)

    def forward(self, x):
        return self.kinds(self.dropout(relu(self.hidden(self.norm(x)))))


x, kind = spectra(200)
x_new, kind_new = spectra(300)
net = TeaNet()
opt = nn.AdamW(net.parameters(), lr=0.003, weight_decay=0.02)
batches = nn.Batches([x, kind], 20, seed=7)
for epoch in range(25):
    net.train()
    for xb, yb in batches.epoch(epoch):
        opt.zero_grad()
        loss = nn.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
    net.eval()
    if epoch % 5 == 4:
        new = nn.cross_entropy(net(x_new), kind_new).item()
        print(f"epoch {epoch + 1}: training {loss.item():.3f}, new {new:.3f}, right {(net(x_new).numpy().argmax(1) == kind_new).mean():.3f}")
