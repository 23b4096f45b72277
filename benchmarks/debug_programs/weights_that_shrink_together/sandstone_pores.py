"""The porosity of sandstone, from four logs: gamma rays, density, sound, resistance. Each core is from a borehole of its own."""

import numpy as np

import nn


def cores(count, rng):
    """Logs at the depth of the core, and the porosity of the core."""
    porosity = np.clip(rng.normal(0.18, 0.05, count), 0.03, 0.35)
    clay = np.clip(rng.normal(0.25, 0.15, count), 0, 0.8)
    gamma = 30 + 110 * clay + rng.normal(0, 5, count)
    density = 2.65 - 1.62 * porosity + 0.08 * clay + rng.normal(0, 0.015, count)
    sound = 55.5 + 130 * porosity + 40 * clay * porosity + rng.normal(0, 1.5, count)
    resistance = np.log10(0.9 / (porosity**2 * (1 + 2 * clay))) + rng.normal(0, 0.06, count)
    return np.column_stack([gamma, density, sound, resistance]), porosity


def make_model(seed):
    rng = np.random.default_rng(seed)
    return nn.Sequential(
        nn.Affine(4, 24, rng=rng), np.tanh, nn.Affine(24, 24, rng=rng), np.tanh, nn.Affine(24, 1, rng=rng)
    )


def make_optimizer(model):
    return nn.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1.0)


def loss(model, batch):
    logs, porosity = batch
    return nn.mean_squared_error(model(logs), porosity)


def main():
    rng = np.random.default_rng(15)
    logs, porosity = cores(1200, rng)
    order = rng.permutation(1200)
    learn, rest = order[:900], order[900:]
    logs = ((logs - logs[learn].mean(axis=0)) / logs[learn].std(axis=0)).astype(np.float32)
    middle, width = porosity[learn].mean(), porosity[learn].std()
    y = ((porosity - middle) / width).astype(np.float32)[:, None]

    model = make_model(0)
    batches = nn.Batches([logs[learn], y[learn]], 45, seed=7)

    def validate(model):
        error = model(logs[rest]).numpy() - y[rest]
        return {"explained": 1 - np.mean(error**2) / np.var(y[rest])}

    history = nn.fit(model, batches, loss, make_optimizer(model), epochs=10, validate=validate, progress=False)
    for epoch in (0, 4, 9):
        print(epoch + 1, f"loss {history.losses[20 * epoch + 19]:.3f}, explained {history.metric('explained')[epoch]:.3f}")


if __name__ == "__main__":
    main()
