"""Twelve numbers through six beads that are black or white: an autoencoder whose code is made of signs."""
import numpy as np
import minigrad as mg
import nn


def bead(x):
    """-1 or 1; backward, the slope of a line between -1 and 1."""
    soft = np.clip(x, -1, 1)
    return soft + mg.stop_gradient(np.sign(x) - soft)


class Beads(nn.Module):
    def __init__(self, size, beads, *, rng):
        self.string = nn.Sequential(nn.Affine(size, 32, rng=rng), np.tanh, nn.Affine(32, beads, rng=rng))
        self.read = nn.Sequential(nn.Affine(beads, 32, rng=rng), np.tanh, nn.Affine(32, size, rng=rng))

    def forward(self, x):
        return self.read(bead(self.string(x)))


rng = np.random.default_rng(12)
patterns = rng.normal(size=(24, 12))
which = rng.integers(24, size=1000)
x = (patterns[which] + rng.normal(0, 0.1, (1000, 12))).astype(np.float32)


def loss(model, batch):
    return nn.mean_squared_error(model(batch[0]), batch[0])


model = Beads(12, 6, rng=rng)
history = nn.fit(model, nn.Batches([x[:800]], 40, seed=1), loss, nn.Adam(model.parameters(), lr=0.01), epochs=40,
                 progress=False)
codes = {tuple(row) for row in np.sign(model.string(x).numpy()).astype(int)}
print(f"loss {history.losses[0]:.3f} -> {np.mean(history.losses[-20:]):.4f}, {len(codes)} codes in use")
print(f"new rows {loss(model, (x[800:],)).item():.4f} of {x.var():.3f}")
