"""Find fans in a road tunnel that will fail within the week. Few do."""

import numpy as np

import minigrad as mg
import nn


def inspect(count, rng):
    fails = rng.random(count) < 0.06
    vibration = rng.normal(0, 1, count) + 1.6 * fails
    current = rng.normal(0, 1, count) + 1.3 * fails
    bearing = rng.normal(0, 1, count) + 1.0 * fails * (vibration > 0)
    age = rng.uniform(-1, 1, count)
    return np.stack([vibration, current, bearing, age], axis=1).astype(np.float32), fails.astype(np.int64)


class FanNet(nn.Module):
    def __init__(self, rng):
        self.first = nn.Affine(4, 24, rng=rng)
        self.second = nn.Affine(24, 2, rng=rng)

    def forward(self, x):
        return self.second(mg.gelu(self.first(x)))


def main():
    rng = np.random.default_rng(50)
    x, y = inspect(3000, rng)
    new_x, new_y = inspect(2000, rng)
    counts = np.bincount(y)
    weight = counts / counts.sum()

    def loss(model, batch):
        readings, fails = batch
        return nn.cross_entropy(model(readings), fails, weight=weight)

    def validate(model):
        alarm = model(new_x).numpy().argmax(axis=1) == 1
        return {"found": alarm[new_y == 1].mean(), "false alarms": alarm[new_y == 0].mean()}

    model = FanNet(rng)
    history = nn.fit(
        model,
        nn.Batches([x, y], 64, seed=9),
        loss,
        nn.Adam(model.parameters(), lr=0.003),
        epochs=15,
        validate=validate,
        progress=False,
    )
    print(f"loss at the end: {np.mean(history.losses[-40:]):.4f}")
    last = history.metrics[-1]
    print(f"failing fans found: {last['found']:.2f}, false alarms: {last['false alarms']:.2f}")


if __name__ == "__main__":
    main()
