"""Outlines of fronds, 40 points along each: a convolution along the outline finds the species."""
import numpy as np
import minigrad as mg
import nn


def outline(species, rng):
    t = np.linspace(0, 1, 40)
    teeth = [6, 9, 13][species]
    body = np.sin(np.pi * t) + 0.25 * np.sin(2 * np.pi * teeth * t + rng.uniform(0, 6))
    return body + rng.normal(0, 0.12, 40)


def collection(count, rng):
    species = rng.integers(0, 3, count)
    return np.stack([outline(s, rng) for s in species])[:, None, :].astype(np.float32), species


rng = np.random.default_rng(70)
fronds, species = collection(420, rng)
pressed, names = collection(150, rng)

model = nn.Sequential(
    nn.Conv1d(1, 8, 7, rng=rng), nn.BatchNorm(8), mg.relu, nn.MaxPool1d(2),
    nn.Conv1d(8, 12, 5, rng=rng), mg.relu, nn.GlobalAvgPool(), nn.Dropout(0.1, rng=rng), nn.Affine(12, 3, rng=rng),
)  # fmt: skip


def loss(model, batch):
    x, y = batch
    return nn.cross_entropy(model(x), y, label_smoothing=0.05)


def validate(model):
    return {"accuracy": np.mean(model(pressed).numpy().argmax(axis=1) == names)}


history = nn.fit(
    model, nn.Batches([fronds, species], 30, seed=8), loss, nn.AdamW(model.parameters(), lr=0.01), epochs=20,
    validate=validate, best=("max", "accuracy"), patience=6, restore_best=True, accumulate=2, progress=False,
)  # fmt: skip
print(f"{len(history.metrics)} epochs, loss {history.losses[0]:.3f} to {history.losses[-1]:.3f}")
print(f"best accuracy on pressed fronds: {max(history.metric('accuracy')):.3f}")
