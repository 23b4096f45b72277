"""Grade wines from eleven measurements; the report at the end goes to the cellar."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(53)
samples = rng.normal(size=(700, 11)).astype(np.float32)
quality = samples[:, 0] - samples[:, 3] * samples[:, 5] + 0.5 * samples[:, 7]
grade = np.digitize(quality, [-0.8, 0.0, 0.8])


class Taster(nn.Module):
    def __init__(self, width, *, rng):
        self.first = nn.Affine(11, width, rng=rng)
        self.second = nn.Affine(width, width, rng=rng)
        self.last = nn.Affine(width, 4, rng=rng)
        self.drop = nn.Dropout(0.5, rng=rng)

    def forward(self, x):
        x = self.drop(mg.relu(self.first(x)))
        x = self.drop(mg.relu(self.second(x)))
        return self.last(x)


def report(model, x, y):
    with mg.no_grad():
        first = model(x).numpy().argmax(axis=1)
        second = model(x).numpy().argmax(axis=1)
    print("graded rightly:", np.mean(first == y).round(3))
    print("the same grade when tasted twice:", np.mean(first == second).round(3))


taster = Taster(48, rng=np.random.default_rng(0))
optimizer = nn.Adam(taster.parameters(), lr=0.004)
batches = nn.Batches([samples[:550], grade[:550]], 50, seed=4)
for epoch in range(60):
    losses = []
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(taster(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d}  loss {np.mean(losses):.3f}")

report(taster, samples[550:], grade[550:])
