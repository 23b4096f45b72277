"""Power use of a household: four simple experts, and a gate that decides by hour and temperature which one to ask."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(8)
EXPERTS = 4
n = 360
minute = rng.uniform(0, 1440, n)
celsius = rng.uniform(-10, 30, n)
home = rng.integers(1, 5, n)
day = np.digitize(minute, [360, 960, 1260])
slope = np.array([0.1, 0.5, 1.5, -0.6])[day]
use = slope * home + np.where(celsius < 8, 1.0, 0.0) + 0.1 * rng.normal(size=n)


class Experts(nn.Module):
    def __init__(self):
        self.gate = nn.Affine(2, 16, rng=rng)
        self.choose = nn.Affine(16, EXPERTS, rng=rng)
        self.lines = nn.Affine(2, EXPERTS, rng=rng)

    def forward(self, situation, inputs):
        trust = mg.softmax(self.choose(mg.relu(self.gate(situation))), axis=-1)
        return (trust * self.lines(inputs)).sum(axis=-1)


situation = np.stack([minute, celsius], axis=1)
inputs = np.stack([home / 2 - 1, celsius < 8], axis=1)
model = Experts()
optimizer = nn.Adam(model.parameters(), lr=0.03)
for epoch in range(100):
    for rows in np.array_split(rng.permutation(300), 6):
        loss = ((model(situation[rows], inputs[rows]) - use[rows]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 20 == 0:
        print(epoch, round(loss.item(), 4))
with mg.no_grad():
    off = model(situation[300:], inputs[300:]).numpy() - use[300:]
print("error", np.mean(off ** 2).round(4), "variance", use[300:].var().round(4))
