import numpy as np
import minigrad as mg
import nn


class FernNet(nn.Module):
    """Leaf outline (48 radii) to one of 15 species."""

    def __init__(self, species, rng):
        self.conv = nn.Conv1d(1, 12, 5, rng=rng, padding=2)
        self.pool = nn.AvgPool1d(4)
        self.head = nn.Affine(12 * 12, species, rng=rng)

    def forward(self, radii):
        h = self.pool(mg.relu(self.conv(radii[:, None, :])))
        z = self.head(h.reshape(len(radii), -1))
        return mg.softmax(z)


def outlines(rng, shapes, n):
    species = rng.integers(0, len(shapes), n)
    return (shapes[species] + rng.normal(0, 0.9, (n, 48))).astype(np.float32), species


def main():
    rng = np.random.default_rng(5)
    angle = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    shapes = np.array([sum(rng.normal() * np.cos(k * angle + rng.uniform(0, 6)) for k in (1, 2, 3, 5)) for _ in range(15)])
    x, y = outlines(rng, shapes, 1200)
    x_new, y_new = outlines(rng, shapes, 400)
    net = FernNet(15, rng)
    history = nn.fit(
        net, nn.Batches([x, y], 60, seed=2), lambda m, b: nn.cross_entropy(m(b[0]), b[1]),
        nn.SGD(net.parameters(), lr=0.1, momentum=0.9), epochs=12, progress=False,
        validate=lambda m: {"right": np.mean(m(x_new).numpy().argmax(axis=1) == y_new)},
    )
    print("loss", np.round(history.losses[::40], 2), "right", history.metric("right")[-1])


if __name__ == "__main__":
    main()
