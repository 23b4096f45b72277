"""Cars per hour at a crossing, from the hour, the weekday and the weather."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(73)
hour = rng.uniform(0, 24, 800)
weekend = rng.integers(0, 2, 800)
rain = rng.uniform(0, 1, 800)
rush = np.exp(-((hour - 8) ** 2) / 6) + np.exp(-((hour - 17.5) ** 2) / 8)
cars = (2 + 5 * rush * (1 - 0.7 * weekend) - rain + rng.normal(0, 0.2, 800)).astype(np.float32)

angle = 2 * np.pi * hour / 24
features = np.stack([np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle), weekend, rain], axis=1)
features = features.astype(np.float32)
targets = ((cars - cars[:600].mean()) / cars[:600].std())[:, None]

rng = np.random.default_rng(0)
network = nn.Sequential(
    nn.Affine(6, 40, rng=rng),
    mg.silu,
    nn.Affine(40, 40, rng=rng),
    mg.silu,
    nn.Affine(40, 1, rng=rng),
)


def loss(model, batch):
    x, y = batch
    return nn.mean_squared_error(model(x), y)


def validate(model):
    return {"error": loss(model, (features[600:], targets[600:])).item()}


optimizer = nn.AdamW(network.parameters(), lr=0.005, weight_decay=30.0)
history = nn.fit(
    network,
    nn.Batches([features[:600], targets[:600]], 40, seed=7),
    loss,
    optimizer,
    epochs=40,
    clip_norm=5.0,
    validate=validate,
    progress=False,
)
print("training", np.round(history.losses[::75], 3))
print("validation", np.round(history.metric("error")[::5], 3))
print("the size of the weights:", *(f"{np.abs(p.numpy()).mean():.4f}" for p in network.parameters()))
