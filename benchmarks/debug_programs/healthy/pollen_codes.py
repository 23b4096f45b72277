"""Squeeze the spectra of pollen into four numbers and restore them; grains of an unknown plant are restored badly."""

import numpy as np

import minigrad as mg
import nn

BANDS, CODE = 40, 4


def spectra(count, shapes, rng):
    amounts = rng.gamma(2.0, 0.5, size=(count, len(shapes)))
    return (np.tanh(amounts @ shapes) + rng.normal(scale=0.03, size=(count, BANDS))).astype(np.float32)


def peaks(count, rng):
    band = np.arange(BANDS)
    return np.exp(-((band - rng.uniform(3, BANDS - 3, size=(count, 1))) ** 2) / 12)


class Squeeze(nn.Module):
    def __init__(self, rng):
        self.down = nn.Sequential(nn.Affine(BANDS, 32, rng=rng), np.tanh, nn.Affine(32, CODE, rng=rng))
        self.up = nn.Sequential(nn.Affine(CODE, 32, rng=rng), np.tanh, nn.Affine(32, BANDS, rng=rng))

    def forward(self, x):
        return self.up(self.down(x))


def loss(model, batch):
    (x,) = batch
    return nn.mean_squared_error(model(x), x)


def main():
    rng = np.random.default_rng(8)
    birch = peaks(4, rng)
    known, new = spectra(1000, birch, rng), spectra(300, birch, rng)
    strange = spectra(300, peaks(4, rng), rng)
    centre = known.mean(axis=0)
    model = Squeeze(rng)
    history = nn.fit(
        model,
        nn.Batches([known - centre], 40, seed=3),
        loss,
        nn.Adam(model.parameters(), lr=0.004),
        epochs=40,
        progress=False,
    )
    print(f"loss: {history.losses[0]:.4f} -> {history.losses[-1]:.4f}")
    with mg.no_grad():
        miss = {
            n: ((model(x - centre).numpy() - (x - centre)) ** 2).mean(axis=1) for n, x in (("b", new), ("s", strange))
        }
    print(f"missed: birch {miss['b'].mean():.4f} (spread {new.var(axis=0).mean():.4f}), strange {miss['s'].mean():.4f}")
    limit = np.quantile(miss["b"], 0.95)
    print(f"strange grains that are noticed: {np.mean(miss['s'] > limit):.2f}")


if __name__ == "__main__":
    main()
