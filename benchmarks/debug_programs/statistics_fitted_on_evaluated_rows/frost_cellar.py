import numpy as np
import minigrad as mg
import nn


def standardize(rows):
    """Subtract the mean of each column, and divide by its standard deviation."""
    return ((rows - rows.mean(axis=0)) / rows.std(axis=0)).astype(np.float32)


def cellar(rng, count, outside):
    """Temperature, damp and draught; do the apples spoil?"""
    rows = np.column_stack([
        outside + 3 * rng.standard_normal(count), 70 + 8 * rng.standard_normal(count), rng.gamma(2.0, 1.0, count),
    ])
    return rows, (rows[:, 0] + 0.15 * (rows[:, 1] - 70) - 0.5 * rows[:, 2] > 7).astype(np.int64)


def main():
    rng = np.random.default_rng(3)
    year, spoiled = [np.concatenate(part) for part in zip(*[cellar(rng, 120, t) for t in (4, 7, 10, 7)])]
    spring, spoiled_spring = cellar(rng, 250, 11)
    x = standardize(year)
    x_spring = standardize(spring)
    model = nn.Sequential(nn.Affine(3, 16, rng=rng), mg.relu, nn.Affine(16, 2, rng=rng))

    def accuracy(model):
        return {"accuracy": float(np.mean(model(x_spring).numpy().argmax(axis=1) == spoiled_spring))}

    history = nn.fit(
        model, nn.Batches([x, spoiled], 32, seed=0), lambda m, b: nn.cross_entropy(m(b[0]), b[1]),
        nn.Adam(model.parameters(), lr=0.01), epochs=20, validate=accuracy, progress=False,
    )
    print(f"training loss {history.losses[-1]:.3f}")
    print(f"accuracy in spring {history.metric('accuracy')[-1]:.3f}")


main()
