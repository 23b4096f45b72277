"""Five species of birds from a spectrum of their calls, with nn.fit."""
import argparse

import numpy as np
import nn

SPECIES = ["wren", "robin", "blackcap", "chiffchaff", "dunnock"]


def recordings(rng, n):
    species = rng.integers(0, len(SPECIES), n)
    pitch = np.array([14.0, 9.0, 11.5, 16.0, 6.5])[species] + rng.normal(0, 0.9, n)
    width = np.array([2.0, 3.0, 1.5, 1.2, 2.5])[species]
    bins = np.arange(24)
    spectrum = np.exp(-(((bins - pitch[:, None]) / width[:, None]) ** 2))
    return (spectrum + rng.normal(0, 0.15, (n, 24))).astype(np.float32), species


class Ear(nn.Module):
    def __init__(self, rng):
        self.body = nn.Sequential(nn.Affine(24, 32, rng=rng), np.tanh, nn.Affine(32, 32, rng=rng), np.tanh)
        self.head = nn.Affine(32, len(SPECIES), rng=rng)

    def forward(self, x):
        return self.head(self.body(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    rng = np.random.default_rng(10)
    x, y = recordings(rng, 960)
    x_test, y_test = recordings(rng, 400)
    model = Ear(rng)
    batches = nn.Batches([x, y], 32, seed=0)
    history = nn.fit(
        model,
        batches,
        lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
        nn.Adam(model.parameters(), lr=args.lr),
        epochs=args.epochs,
        schedule=nn.cosine_schedule(args.lr, args.epochs, warmup=5),
        validate=lambda model: {"accuracy": float(np.mean(model(x_test).numpy().argmax(axis=1) == y_test))},
        progress=False,
    )
    for epoch in range(0, args.epochs, 3):
        print(f"epoch {epoch:2d}  loss {history.losses[(epoch + 1) * len(batches) - 1]:.3f}  accuracy {history.metric('accuracy')[epoch]:.3f}")
    print("at the end:", round(history.losses[-1], 3), round(history.metric("accuracy")[-1], 3))


if __name__ == "__main__":
    main()
