"""Pool a set of points by attention: find the mean of the points of the marked kind."""

import numpy as np

import nn
from minigrad import softmax


class AttentionPool(nn.Module):
    def __init__(self, features, temperature, rng):
        self.hidden = nn.Affine(features, 16, rng=rng)
        self.score = nn.Affine(16, 1, rng=rng)
        self.temperature = temperature

    def forward(self, x):
        scores = self.score(np.tanh(self.hidden(x)))[..., 0] / self.temperature
        weights = softmax(scores, axis=-1)
        return (weights[..., None] * x).sum(axis=1)


def sets(n, rng):
    x = rng.normal(size=(n, 12, 3)).astype(np.float32)
    x[..., 2] = rng.random((n, 12)) < 0.4
    x[:, 0, 2] = 1
    mark = x[..., 2:]
    return x, (mark * x[..., :2]).sum(axis=1) / mark.sum(axis=1)


rng = np.random.default_rng(76)
model = AttentionPool(3, 0.002, rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for step in range(250):
    x, mean = sets(32, rng)
    loss = nn.mean_squared_error(model(x)[:, :2], mean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
