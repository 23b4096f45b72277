"""A small GPT that learns the names of stars, letter by letter."""

import numpy as np

import models
import nn

NAMES = "sirius canopus arcturus vega capella rigel procyon achernar betelgeuse hadar altair acrux aldebaran"
NAMES = f"{NAMES} antares spica pollux fomalhaut deneb mimosa regulus adhara castor shaula gacrux bellatrix".split()
LETTERS = ".abcdefghijklmnopqrstuvwxyz"
WINDOW = max(map(len, NAMES)) + 1
ids = np.array([[LETTERS.index(c) for c in f".{name}.".ljust(WINDOW + 1, ".")] for name in NAMES])

config = models.GPTConfig(vocab_size=len(LETTERS), window=WINDOW, d_model=32, num_heads=2, num_layers=1, std=0.1)
model = models.GPT(config, rng=np.random.default_rng(53))
batches = nn.Batches([ids], 9, seed=2)


def loss(model, batch):
    (names,) = batch
    return nn.cross_entropy(model(names[:, :-1]), names[:, 1:])


EPOCHS = 40
schedule = nn.cosine_schedule(0.004, 200_000, warmup=100_000)
history = nn.fit(
    model, batches, loss, nn.AdamW(model.parameters()), epochs=EPOCHS, schedule=schedule, clip_norm=1.0, progress=False
)
print(history)
print("nats per letter at the end:", np.mean(history.losses[-3:]).round(3))
rng = np.random.default_rng(0)
letters = np.stack(list(model.generate(np.zeros((4, 1), int), WINDOW - 1, rng=rng)), axis=1)
for row in letters:
    print("".join(LETTERS[i] for i in row).split(".")[0])
