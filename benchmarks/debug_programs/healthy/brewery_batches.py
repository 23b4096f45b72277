"""Strength of a beer from its mash: a small network, trained with nn.fit."""

import numpy as np

import nn


def brew(count, rng):
    malt, warmth, days = rng.uniform(3, 7, count), rng.normal(66, 2, count), rng.uniform(4, 12, count)
    strength = 0.9 * malt - 0.06 * (warmth - 65) ** 2 + 0.8 * np.log(days) + rng.normal(0, 0.15, count)
    return np.stack([malt, warmth, days], axis=1), strength[:, None]


class Mash(nn.Module):
    def __init__(self, rng):
        self.first, self.second = nn.Affine(3, 24, rng=rng), nn.Affine(24, 1, rng=rng)

    def forward(self, x):
        return self.second(np.tanh(self.first(x)))


def loss(model, batch):
    x, y = batch
    return nn.mean_squared_error(model(x), y)


def main():
    rng = np.random.default_rng(1)
    x, y = brew(700, rng)
    train, test = slice(0, 550), slice(550, None)
    centre, width = x[train].mean(axis=0), x[train].std(axis=0)
    level, spread = y[train].mean(), y[train].std()
    x = ((x - centre) / width).astype(np.float32)
    target = ((y - level) / spread).astype(np.float32)
    model = Mash(rng)
    batches = nn.Batches([x[train], target[train]], 25, seed=0)

    def validate(model):
        guess = model(x[test]).numpy() * spread + level
        return {"error": np.abs(guess - y[test]).mean()}

    history = nn.fit(
        model,
        batches,
        loss,
        nn.Adam(model.parameters(), lr=0.01),
        epochs=40,
        schedule=nn.cosine_schedule(0.01, 40 * len(batches), warmup=20),
        validate=validate,
        progress=False,
    )
    print(f"loss: {history.losses[0]:.3f} -> {np.mean(history.losses[-22:]):.3f}")
    print(
        f"mean error: {history.metric('error')[-1]:.2f} % vol; of the mean beer: {np.abs(level - y[test]).mean():.2f}"
    )


if __name__ == "__main__":
    main()
