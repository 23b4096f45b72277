"""The height of the tide from the hour and the phase of the moon."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(41)
hour = rng.uniform(0, 24, 400)
moon = rng.uniform(0, 2 * np.pi, 400)
height = (1.5 + 0.5 * np.cos(moon)) * np.sin(2 * np.pi * hour / 12.4) + rng.normal(0, 0.05, 400)
turn = 2 * np.pi * hour / 12.4
inputs = np.stack([np.sin(turn), np.cos(turn), np.sin(moon), np.cos(moon)], axis=1)


class TideModel:
    def __init__(self, rng):
        self.layers = [nn.Affine(4, 32, rng=rng), nn.Affine(32, 1, rng=rng)]

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]

    def predict(self, x):
        return self.layers[1](mg.relu(self.layers[0](x)))


def squared_error(predicted, wanted):
    return np.mean((predicted - wanted) ** 2)


tide = TideModel(np.random.default_rng(0))
optimizer = nn.Adam(tide.parameters(), lr=0.01)
chooser = np.random.default_rng(1)
for step in range(500):
    rows = chooser.integers(0, 300, 32)
    optimizer.zero_grad()
    loss = squared_error(tide.predict(inputs[rows]), height[rows])
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"{step:4d}  {loss.item():.4f}")

predicted = tide.predict(inputs[300:]).numpy()[:, 0]
print("largest and smallest prediction", predicted.max().round(2), predicted.min().round(2))
print("largest and smallest height", height[300:].max().round(2), height[300:].min().round(2))
print("mean absolute error in metres", np.abs(predicted - height[300:]).mean().round(3))
