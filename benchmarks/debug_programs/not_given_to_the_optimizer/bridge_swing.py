"""How far does a footbridge swing?  In centimetres, from the number of walkers and the wind."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(41)
walkers = rng.integers(0, 60, 220)
wind = rng.uniform(0, 18, 220)
swing = 14 + 0.12 * walkers + 0.025 * wind ** 2 + 0.4 * rng.normal(size=220)
x = np.stack([walkers / 30 - 1, wind / 9 - 1], axis=1)


class Bridge:
    def __init__(self, width=12):
        self.W = [rng.normal(size=(2, width)) / np.sqrt(2), rng.normal(size=(width, width)) / np.sqrt(width)]
        self.b = [np.zeros(width), np.zeros(width)]
        self.W = [mg.Tensor(w, requires_grad=True) for w in self.W]
        self.b = [mg.Tensor(b, requires_grad=True) for b in self.b]
        self.out = mg.Tensor(rng.normal(size=width) / np.sqrt(width), requires_grad=True)
        self.rest = mg.Tensor(0.0, requires_grad=True)

    def __call__(self, x):
        for W, b in zip(self.W, self.b):
            x = np.tanh(x @ W + b)
        return x @ self.out + self.rest

    def weights(self):
        return self.W + self.b


bridge = Bridge()
optimizer = nn.Adam(bridge.weights(), lr=0.03)
for epoch in range(60):
    for rows in np.array_split(rng.permutation(180), 6):
        optimizer.zero_grad()
        loss = np.mean((bridge(x[rows]) - swing[rows]) ** 2)
        loss.backward()
        optimizer.step()
    if epoch % 12 == 0:
        print(epoch, round(loss.item(), 3))

with mg.no_grad():
    off = bridge(x[180:]).numpy() - swing[180:]
print("centimetres off:", np.abs(off).mean().round(2))
