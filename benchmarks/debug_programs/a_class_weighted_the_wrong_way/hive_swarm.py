"""Which hives are about to swarm? Scales, thermometers and microphones of 1,600 hive days."""

import numpy as np

import nn

rng = np.random.default_rng(11)
DAYS = 1600


def hive_days(count):
    swarm = (rng.random(count) < 0.07).astype(np.int64)
    gain = rng.normal(0.6, 0.5, count) - 0.5 * swarm            # kilograms in a day
    brood = rng.normal(34.6, 0.5, count) + 0.5 * swarm          # degrees between the combs
    hum = rng.normal(230, 18, count) + 24 * swarm               # hertz
    piping = rng.normal(0.0, 1.0, count) + 1.3 * swarm          # loudness of the queens, standardised
    traffic = rng.normal(40, 12, count) - 5 * swarm             # bees in a minute
    return np.stack([gain, brood, hum, piping, traffic], axis=1), swarm


x, swarm = hive_days(DAYS)
known = slice(0, 1100)
later = slice(1100, DAYS)
centre, spread = x[known].mean(axis=0), x[known].std(axis=0)
x = ((x - centre) / spread).astype(np.float32)

counts = np.bincount(swarm[known], minlength=2)
importance = counts / counts.sum()

net_rng = np.random.default_rng(5)
model = nn.Sequential(nn.Affine(5, 16, rng=net_rng), np.tanh, nn.Affine(16, 2, rng=net_rng))


def loss(model, batch):
    inputs, labels = batch
    return nn.cross_entropy(model(inputs), labels, weight=importance)


def validate(model):
    guess = model(x[later]).numpy().argmax(axis=1)
    found = np.mean(guess[swarm[later] == 1] == 1)
    calm = np.mean(guess[swarm[later] == 0] == 0)
    return {"found": found, "balanced": (found + calm) / 2}


batches = nn.Batches([x[known], swarm[known]], 64, seed=2)
history = nn.fit(model, batches, loss, nn.Adam(model.parameters(), lr=0.01), epochs=15, validate=validate, progress=False)
print(f"loss {history.losses[-1]:.3f}")
print(f"swarms found {history.metric('found')[-1]:.2f}, balanced accuracy {history.metric('balanced')[-1]:.2f}")
