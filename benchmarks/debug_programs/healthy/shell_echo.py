"""Squeeze the outline of a shell into three numbers, and draw it again."""
import numpy as np
import minigrad as mg
import nn

rng = np.random.default_rng(2)
turn = np.linspace(0, 2 * np.pi, 20, endpoint=False)


def shells(count):
    size, lobes, tilt = rng.uniform(0.5, 1.5, (3, count, 1))
    return (size + 0.4 * lobes * np.cos(2 * turn) + 0.3 * tilt * np.sin(turn)).astype(np.float32)


class Squeezer(nn.Module):
    def __init__(self):
        self.inward = nn.Sequential(nn.Affine(20, 24, rng=rng), np.tanh, nn.Affine(24, 3, rng=rng))
        self.outward = nn.Sequential(nn.Affine(3, 24, rng=rng), np.tanh, nn.Affine(24, 20, rng=rng))

    def forward(self, outline):
        return self.outward(self.inward(outline))


def redraw(model, batch):
    (outline,) = batch
    return nn.mean_squared_error(model(outline), outline)


known, new = shells(600), shells(100)
squeezer = Squeezer()
history = nn.fit(squeezer, nn.Batches([known], 30, seed=0), redraw, nn.Adam(squeezer.parameters(), lr=0.005),
                 epochs=30, validate=lambda m: {"new": nn.mean_squared_error(m(new), new).item()}, progress=False)
print(f"error {history.losses[0]:.4f} -> {history.losses[-1]:.4f}")
print(f"new shells {history.metric('new')[-1]:.4f}, variance {new.var():.4f}")
