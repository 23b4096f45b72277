"""Sort photographed floor tiles by pattern: stripes across, stripes along, checks."""
import numpy as np
import minigrad as mg
import nn

SIZE = 8


def photograph(rng, count):
    kind = rng.integers(0, 3, count)
    row, col = np.mgrid[:SIZE, :SIZE]
    patterns = np.stack([row % 2, col % 2, (row + col) % 2]) * 160 + 40
    return np.clip(patterns[kind] + rng.normal(0, 25, (count, SIZE, SIZE)), 0, 255).astype(np.uint8), kind


def to_unit(pictures):
    return pictures.astype(np.float32) / 255


class TileNet(nn.Module):
    def __init__(self, rng):
        self.look = nn.Conv2d(1, 6, 3, rng=rng)
        self.answer = nn.Affine(6, 3, rng=rng)

    def forward(self, pictures):
        x = pictures[:, None] / 255
        return self.answer(mg.relu(self.look(x)).max(axis=(2, 3)))


rng = np.random.default_rng(0)
pictures, kind = photograph(rng, 600)
pictures = to_unit(pictures)
net = TileNet(rng)
batches = nn.Batches([pictures[:500], kind[:500]], 25, seed=5)
history = nn.fit(net, batches, lambda m, b: nn.cross_entropy(m(b[0]), b[1]), nn.SGD(net.parameters(), lr=0.3),
                 epochs=15, progress=False)
right = net(pictures[500:]).numpy().argmax(axis=1) == kind[500:]
print(f"loss {history.losses[0]:.3f} -> {np.mean(history.losses[-20:]):.3f}, accuracy {right.mean():.2f}")
