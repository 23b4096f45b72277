import numpy as np
import minigrad as mg
import nn
from nn import functional as F

# Will a glaze crack? Twelve readings of the kiln, 240 firings to learn from, 400 to check.
rng = np.random.default_rng(55)


def firings(count):
    readings = rng.standard_normal((count, 12)).astype(np.float32)
    bent = readings[:, 0] + readings[:, 1] * readings[:, 2] - 0.7 * readings[:, 5]
    return readings, (bent > 0).astype(np.int64)


class Kiln(nn.Module):
    def __init__(self, width=32):
        self.rise = nn.Affine(12, width, rng=rng)
        self.hold = nn.Affine(width, width, rng=rng)
        self.cool = nn.Affine(width, 2, rng=rng)
        self.noise = np.random.default_rng(1)

    def forward(self, x):
        h = mg.relu(self.rise(x))
        h = F.dropout(h, 0.75, rng=self.noise)
        h = mg.relu(self.hold(h))
        h = F.dropout(h, 0.75, rng=self.noise)
        return self.cool(h)


x, y = firings(800)
x_check, y_check = firings(400)
kiln = Kiln()
adam = nn.AdamW(kiln.parameters(), lr=0.005, weight_decay=0.01)
for epoch in range(40):
    kiln.train()
    for part in np.array_split(rng.permutation(len(x)), 20):
        adam.zero_grad()
        loss = nn.cross_entropy(kiln(x[part]), y[part])
        loss.backward()
        adam.step()
kiln.eval()
with mg.no_grad():
    z = kiln(x_check)
    print(f"loss on the last batch {loss.item():.3f}, on new firings {nn.cross_entropy(z, y_check).item():.3f}")
    print(f"right {np.mean(z.numpy().argmax(axis=1) == y_check):.3f}")
    print(f"answers that change on a second look: {np.mean(kiln(x_check).numpy().argmax(1) != z.numpy().argmax(1)):.3f}")
