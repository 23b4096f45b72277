import numpy as np

import nn
from minigrad import softmax


class Attention(nn.Module):
    def __init__(self, features, width, rng):
        self.q = nn.Affine(features, width, rng=rng)
        self.k = nn.Affine(features, width, rng=rng)
        self.v = nn.Affine(features, width, rng=rng)
        self.out = nn.Affine(width, 1, rng=rng)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).swapaxes(1, 2) / np.sqrt(self.q.weight.shape[1])
        weights = softmax(scores, axis=1)
        return self.out(weights @ self.v(x))[..., 0]


def questions(n, rng):
    """Each member has a group and a value, and asks for the mean value of some group."""
    group, asked = rng.integers(0, 3, (2, n, 8))
    value = rng.normal(size=(n, 8))
    asks = asked[:, :, None] == group[:, None, :]
    mean = (asks * value[:, None]).sum(axis=2) / np.maximum(asks.sum(axis=2), 1)
    x = np.concatenate([np.eye(3)[group], np.eye(3)[asked], value[..., None]], axis=2)
    return x.astype(np.float32), mean.astype(np.float32), asks.any(axis=2)


rng = np.random.default_rng(80)
model = Attention(7, 16, rng)
optimizer = nn.Adam(model.parameters(), lr=0.02)
for step in range(400):
    x, mean, known = questions(32, rng)
    optimizer.zero_grad()
    loss = (known * (model(x) - mean) ** 2).sum() / known.sum()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step}: {loss.item():.4f}")
