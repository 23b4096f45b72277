"""Classify leaves from 16 colour statistics."""
import numpy as np
import nn
from minigrad import relu

rng = np.random.default_rng(47)
KINDS = 6


def leaves(n):
    kind = rng.integers(0, KINDS, n)
    return (means[kind] + rng.normal(size=(n, 16))).astype(np.float32), kind


means = rng.normal(size=(KINDS, 16)) * 1.0
train_x, train_kind = leaves(600)
test_x, test_kind = leaves(400)


class LeafNet(nn.Module):
    def __init__(self):
        self.one = nn.Affine(16, 48, rng=rng)
        self.two = nn.Affine(48, 48, rng=rng)
        self.three = nn.Affine(48, KINDS, rng=rng)
        self.drop = nn.Dropout(0.6, rng=rng)

    def forward(self, x):
        x = self.drop(relu(self.one(x)))
        x = self.drop(relu(self.two(x)))
        return self.three(x)


def evaluate(net, x, kind):
    logits = net(x).numpy()
    shifted = logits - logits.max(axis=1, keepdims=True)
    logp = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(kind)), kind].mean(), (logits.argmax(axis=1) == kind).mean()


net = LeafNet()
opt = nn.Adam(net.parameters(), lr=0.003)
batches = nn.Batches([train_x, train_kind], 30, seed=2)
for epoch in range(30):
    for x, kind in batches.epoch(epoch):
        opt.zero_grad()
        loss = nn.cross_entropy(net(x), kind)
        loss.backward()
        opt.step()
    if epoch % 6 == 5:
        print("epoch", epoch + 1, "test loss %.3f accuracy %.3f" % evaluate(net, test_x, test_kind))
print("test loss %.3f accuracy %.3f" % evaluate(net, test_x, test_kind))
