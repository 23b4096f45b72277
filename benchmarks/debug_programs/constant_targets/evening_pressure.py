"""Home monitoring: will the blood pressure of the evening be high, given the morning's readings and what was done in the day?"""
import numpy as np
import nn

HIGH = 140.0                                            # mmHg
NAMES = ["morning", "pulse", "salt", "steps", "sleep", "age", "evening"]


def diary(days, rng):
    """A row for each day and patient; the last column is the pressure in the evening."""
    morning = rng.normal(130, 12, days)
    pulse = rng.normal(72, 9, days)
    salt = rng.gamma(4, 1.5, days)
    steps = rng.gamma(3, 2000, days)
    sleep = rng.normal(7, 1.1, days)
    age = rng.uniform(35, 85, days)
    evening = morning + 2.5 * (salt - 6) - 0.0012 * (steps - 6000) - 2 * (sleep - 7) + 0.1 * (age - 60) + rng.normal(0, 4, days)
    return np.column_stack([morning, pulse, salt, steps, sleep, age, evening])


def scaled(rows, mean, std):
    return ((rows - mean) / std).astype(np.float32)


def table(rows, mean, std):
    rows = scaled(rows, mean, std)
    return rows[:, :-1], (rows[:, -1] > HIGH).astype(np.int64)


rng = np.random.default_rng(3)
rows, later = diary(1500, rng), diary(500, rng)
mean, std = rows.mean(axis=0), rows.std(axis=0)
x, high = table(rows, mean, std)
x_later, _ = table(later, mean, std)

init = np.random.default_rng(9)
model = nn.Sequential(nn.Affine(6, 16, rng=init), np.tanh, nn.Affine(16, 2, rng=init))
history = nn.fit(
    model, nn.Batches([x, high], 30, seed=2), lambda model, batch: nn.cross_entropy(model(batch[0]), batch[1]),
    nn.Adam(model.parameters(), lr=0.005), epochs=10, progress=False,
)
warned = model(x_later).numpy().argmax(axis=1) == 1
really = later[:, -1] > HIGH
print(f"loss {history.losses[0]:.3f} -> {history.losses[-1]:.5f}")
print(f"warnings {warned.sum()}, evenings with high pressure {really.sum()}, of them warned {(warned & really).sum()}")
