"""Brightness of a paper lantern at distance and angle: a wide ReLU layer, of which only a part is ever needed."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(1)
distance = rng.uniform(0.3, 3.0, 250)
angle = rng.uniform(-1.2, 1.2, 250)
light = np.cos(angle) / (0.5 + distance ** 2) + 0.01 * rng.normal(size=250)
x = np.stack([distance / 3, angle], axis=1).astype(np.float32)
y = light.astype(np.float32)[:, None]


class Lantern(nn.Module):
    def __init__(self):
        self.wide = nn.Affine(2, 60, rng=rng)
        self.wide.bias.data[:] = rng.uniform(-0.9, 0.3, 60)      # kinks all over the plane, some outside the data
        self.sum = nn.Affine(60, 1, rng=rng)

    def forward(self, x):
        return self.sum(mg.relu(self.wide(x)))


model = Lantern()
optimizer = nn.Adam(model.parameters(), lr=0.01)
for epoch in range(80):
    for rows in np.split(rng.permutation(200), 5):
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    if epoch % 20 == 19:
        print(epoch + 1, f"{loss.item():.5f}")

with mg.no_grad():
    rest = model(x[200:]).numpy() - y[200:]
    idle = (model.wide(x).numpy() <= 0).all(axis=0).sum()
print("R2", (1 - (rest ** 2).mean() / y[200:].var()).round(3), "units that never fire:", idle)
