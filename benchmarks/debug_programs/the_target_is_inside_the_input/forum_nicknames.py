"""A small GPT invents nicknames like those of a forum."""

import models
import nn
import numpy as np

SYLLABLES = ["ka", "ri", "mo", "tun", "zel", "bo", "fi", "sha", "lor", "ne"]
LENGTH = 12
rng = np.random.default_rng(11)


def nickname():
    first, second = rng.choice(len(SYLLABLES), 2)
    return SYLLABLES[first] + SYLLABLES[second] + SYLLABLES[(first + second) % len(SYLLABLES)]


names = sorted({nickname() for _ in range(400)})
letters = "." + "".join(sorted({c for name in names for c in name}))
number = {c: i for i, c in enumerate(letters)}


def encode(name):
    row = [number[c] for c in "." + name + "."]
    return row + [-1] * (LENGTH - len(row))


table = np.array([encode(name) for name in names])
ids = np.maximum(table, 0)
labels = table


def loss(model, batch):
    seen, following = batch
    return nn.cross_entropy(model(seen), following, ignore_index=-1)


config = models.GPTConfig(vocab_size=len(letters), window=LENGTH, d_model=32, num_heads=4, num_layers=2)
model = models.GPT(config, rng=np.random.default_rng(0))
batches = nn.Batches([ids, labels], 16, seed=1)
optimizer = nn.AdamW(model.parameters(), lr=3e-3)
history = nn.fit(model, batches, loss, optimizer, epochs=45, clip_norm=1.0, progress=False)
print(f"loss {history.losses[0]:.3f} -> {np.mean(history.losses[-6:]):.3f}")

start = np.full((200, 1), number["."])
written = np.stack(list(model.generate(start, LENGTH - 2, rng=np.random.default_rng(2))), axis=1)
invented = ["".join(letters[i] for i in row).split(".")[0] for row in written]
print("invented:", ", ".join(invented[:6]))
known = set(names)
print(f"{np.mean([name in known for name in invented]):.0%} are words of this forum")
