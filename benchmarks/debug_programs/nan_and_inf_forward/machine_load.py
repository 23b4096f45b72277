"""Predict the load of a machine from four sensors. The fourth one only fires now and then."""

import numpy as np

import nn


class BatchNorm(nn.Module):
    def __init__(self, width):
        self.gamma = nn.Parameter(np.ones(width, np.float32))
        self.beta = nn.Parameter(np.zeros(width, np.float32))

    def forward(self, x):
        mean = x.mean(axis=0)
        std = x.std(axis=0)
        return (x - mean) / std * self.gamma + self.beta


class LoadModel(nn.Module):
    def __init__(self, rng):
        self.norm = BatchNorm(4)
        self.hidden = nn.Affine(4, 16, rng=rng)
        self.out = nn.Affine(16, 1, rng=rng)

    def forward(self, x):
        return self.out(np.tanh(self.hidden(self.norm(x))))


rng = np.random.default_rng(11)
sensors = rng.normal(size=(480, 4)).astype(np.float32)
sensors[:, 3] = rng.random(480) < 0.09
load = (sensors[:, :1] * sensors[:, 1:2] + sensors[:, 3:]).astype(np.float32)

model = LoadModel(rng)
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    order = rng.permutation(480)
    total = 0.0
    for start in range(0, 480, 32):
        rows = order[start : start + 32]
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(sensors[rows]), load[rows])
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / 15:.4f}")
