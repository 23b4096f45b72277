"""Which of three machines made the sound? The mean over time is an operation of our own."""

import numpy as np

import nn
from minigrad import Function


class MeanOverTime(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        return x.mean(axis=1)

    @staticmethod
    def backward(ctx, g):
        return np.broadcast_to(g[:, None, :], ctx.shape)


class SoundNet(nn.Module):
    def __init__(self, rng):
        self.frame = nn.Affine(6, 32, rng=rng)
        self.out = nn.Affine(32, 3, rng=rng)

    def forward(self, x):
        return self.out(MeanOverTime.apply(np.tanh(self.frame(x))))


rng = np.random.default_rng(171)
machine = rng.integers(0, 3, 360)
loud = np.array([0.5, 1.0, 1.5])[machine][:, None, None]
x = (loud * rng.normal(size=(360, 40, 6)) + 0.5).astype(np.float32)
model = SoundNet(rng)
optimizer = nn.SGD(model.parameters(), lr=2.0, momentum=0.9)
for epoch in range(20):
    for rows in np.split(rng.permutation(360), 9):
        loss = nn.cross_entropy(model(x[rows]), machine[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 2 == 1:
        accuracy = (model(x).numpy().argmax(axis=1) == machine).mean()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {accuracy:.3f}")
