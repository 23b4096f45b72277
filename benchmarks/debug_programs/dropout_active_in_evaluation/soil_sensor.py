"""The moisture of soil from six sensors, with dropout because sensors fail."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(59)
x = rng.normal(size=(700, 6)).astype(np.float32)
moisture = (np.tanh(x[:, 0] + x[:, 1]) + 0.5 * x[:, 2] - x[:, 3] + 0.4 * np.maximum(x[:, 4], x[:, 5]))[:, None]
moisture = moisture.astype(np.float32)


class Moisture(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(6, 64, rng=rng)
        self.drop = nn.Dropout(0.4, rng=rng)
        self.second = nn.Affine(64, 1, rng=rng)

    def forward(self, x):
        return self.second(self.drop(mg.relu(self.first(x))))


model = Moisture(rng)
optimizer = nn.Adam(model.parameters(), lr=0.005)
for _ in range(30):
    for rows in np.array_split(rng.permutation(500), 10):
        optimizer.zero_grad()
        loss = nn.mean_squared_error(model(x[rows]), moisture[rows])
        loss.backward()
        optimizer.step()

with mg.no_grad():
    predicted = model(x[500:]).numpy()
error = np.mean((predicted - moisture[500:]) ** 2)
print(f"squared error on new soil {error:.4f}, of a constant {moisture[500:].var():.4f}")
print("three predictions for the first place:", [round(model(x[500:501]).item(), 2) for _ in range(3)])
