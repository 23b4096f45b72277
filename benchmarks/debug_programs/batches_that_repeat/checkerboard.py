import numpy as np

import nn

points = np.random.default_rng(110).uniform(0, 2, size=(1000, 2)).astype(np.float32)
colour = (np.floor(points).sum(axis=1) % 2).astype(np.int64)
x, y = points[:800], colour[:800]


def random_batch(size):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(x), size)
    return x[rows], y[rows]


class Net(nn.Module):
    def __init__(self, rng):
        self.l1 = nn.Affine(2, 32, rng=rng)
        self.l2 = nn.Affine(32, 32, rng=rng)
        self.l3 = nn.Affine(32, 2, rng=rng)

    def forward(self, x):
        x = nn.functional.relu(self.l1(x - 1))
        x = nn.functional.relu(self.l2(x))
        return self.l3(x)


net = Net(np.random.default_rng(1))
optimizer = nn.Adam(net.parameters(), lr=0.005)
for step in range(600):
    xb, yb = random_batch(16)
    loss = nn.cross_entropy(net(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        right = (net(points[800:]).numpy().argmax(axis=1) == colour[800:]).mean()
        print(f"step {step}: loss {loss.item():.4f}, accuracy on unseen points {right:.3f}")
