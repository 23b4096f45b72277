"""Does a scan across a shell cross a rib? A small convolutional network looks for a bump among slow waves."""
import numpy as np

import minigrad as mg
import nn


class ScanNet(nn.Module):
    def __init__(self, channels, *, rng):
        self.near = nn.Conv1d(1, channels, 5, rng=rng, padding=2)
        self.far = nn.Conv1d(channels, channels, 5, rng=rng, padding=2, stride=2)
        self.head = nn.Affine(channels, 3, rng=rng)

    def features(self, scan):
        x = mg.relu(self.near(scan[:, None]))
        x = mg.relu(self.far(x))
        return x.max(axis=-1)

    def forward(self, scan):
        found = mg.Tensor(self.features(scan).data)
        return self.head(found)


def scans(count, rng):
    ribs = rng.integers(3, size=count)                  # none, a sharp one, a double one
    place = rng.integers(6, 34, size=(count, 1))
    t = np.arange(40)
    wave = np.sin(t * rng.uniform(0.1, 0.4, (count, 1)) + rng.uniform(0, 6, (count, 1)))
    sharp = np.exp(-((t - place) ** 2) / 0.8)
    double = np.exp(-((t - place - 2) ** 2) / 0.8) + np.exp(-((t - place + 2) ** 2) / 0.8)
    scan = wave + np.where(ribs[:, None] == 1, sharp, np.where(ribs[:, None] == 2, double, 0))
    return (scan + rng.normal(0, 0.1, scan.shape)).astype(np.float32), ribs


def loss(model, batch):
    scan, ribs = batch
    return nn.cross_entropy(model(scan), ribs)


rng = np.random.default_rng(31)
scan, ribs = scans(900, rng)
test_scan, test_ribs = scans(300, rng)
net = ScanNet(12, rng=rng)


def validate(net):
    return {"accuracy": np.mean(net(test_scan).numpy().argmax(axis=1) == test_ribs)}


history = nn.fit(net, nn.Batches([scan, ribs], 30, seed=9), loss, nn.Adam(net.parameters(), lr=0.006), epochs=14,
                 validate=validate, progress=False)
print(f"loss {np.mean(history.losses[-30:]):.4f}  accuracy {history.metric('accuracy')[-1]:.3f}")
