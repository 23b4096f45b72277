"""A panel of genes for an early test: choose the most telling genes, then train a classifier on them."""

import nn
import numpy as np

GENES, KEEP = 4000, 30


def patients(n, rng):
    ill = rng.integers(2, size=n)
    activity = rng.normal(size=(n, GENES)).astype(np.float32)
    activity[:, :4] += 0.8 * ill[:, None]
    return activity, ill


def telling(activity, ill):
    """The genes whose activity goes with the illness, most of all first."""
    a = activity - activity.mean(axis=0)
    b = ill - ill.mean()
    return np.argsort(-np.abs(b @ a) / np.sqrt((a**2).sum(axis=0)))[:KEEP]


def loss(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x), y)


def accuracy(model, x, y):
    return float(np.mean(model(x).numpy().argmax(axis=1) == y))


def main():
    rng = np.random.default_rng(40)
    activity, ill = patients(140, rng)
    train, held = np.arange(60), np.arange(60, 140)
    panel = telling(activity, ill)
    x = activity[:, panel]
    model = nn.Sequential(nn.Affine(KEEP, 8, rng=rng), np.tanh, nn.Affine(8, 2, rng=rng))
    history = nn.fit(
        model,
        nn.Batches([x[train], ill[train]], 20, seed=1),
        loss,
        nn.AdamW(model.parameters(), lr=0.01, weight_decay=0.1),
        epochs=30,
        validate=lambda model: {"accuracy": accuracy(model, x[held], ill[held])},
        progress=False,
    )
    print(f"loss {history.losses[0]:.3f} -> {history.losses[-1]:.3f}")
    print(f"accuracy on the held-out patients {history.metric('accuracy')[-1]:.2f}")
    other, other_ill = patients(1000, rng)
    print(f"accuracy in another clinic {accuracy(model, other[:, panel], other_ill):.2f}")


if __name__ == "__main__":
    main()
