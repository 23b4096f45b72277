"""Which cellar does a wine come from? Two numbers of the wine, three cellars around a spiral stair."""
import numpy as np
import minigrad as mg
import nn

CELLARS = 3


def wines(count, rng):
    cellar = rng.integers(CELLARS, size=count)
    way = rng.uniform(0.25, 1, count)
    angle = 4 * way + 2 * np.pi * cellar / CELLARS
    point = np.stack([way * np.cos(angle), way * np.sin(angle)], axis=1)
    return (2 * point + rng.normal(0, 0.06, point.shape)).astype(np.float32), cellar


def build(depth, width, rng):
    layers = [nn.Affine(2, width, rng=rng)]
    for _ in range(depth):
        layers += [mg.sigmoid, nn.Affine(width, width, rng=rng)]
    layers += [np.tanh, nn.Affine(width, CELLARS, rng=rng)]
    return nn.Sequential(*layers)


def loss(model, batch):
    wine, cellar = batch
    return nn.cross_entropy(model(wine), cellar)


def main():
    rng = np.random.default_rng(19)
    wine, cellar = wines(768, rng)
    model = build(7, 24, rng)
    batches = nn.Batches([wine, cellar], 32, seed=5)
    history = nn.fit(
        model, batches, loss, nn.SGD(model.parameters(), lr=0.05, momentum=0.9), epochs=40, clip_norm=5.0,
        progress=False,
    )
    for epoch in range(0, 40, 8):
        part = history.losses[epoch * len(batches):(epoch + 1) * len(batches)]
        print(f"epoch {epoch:2d}: {np.mean(part):.4f}")
    taste, truth = wines(300, rng)
    print(f"right: {np.mean(model(taste).numpy().argmax(axis=1) == truth):.3f}")


if __name__ == "__main__":
    main()
