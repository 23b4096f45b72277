"""A GPT continues knitting patterns: a motif of three to five stitches is repeated along the row."""

import models
import nn
import numpy as np

STITCHES, ROW = 8, 20
rng = np.random.default_rng(33)


def rows(n):
    out = np.empty((n, ROW), np.int64)
    for line in out:
        motif = rng.integers(STITCHES, size=rng.integers(3, 6))
        line[:] = np.resize(motif, ROW)
    return out


def loss(model, batch):
    (row,) = batch
    return nn.cross_entropy(model(row[:, :-1]), row[:, 1:])


def continued(model):
    guess = model(fresh[:, :-1]).numpy().argmax(axis=-1)
    return {"late": np.mean(guess[:, 11:] == fresh[:, 12:])}


known, fresh = rows(1200), rows(200)
config = models.GPTConfig(vocab_size=STITCHES, window=ROW, d_model=32, num_heads=2, num_layers=2)
model = models.GPT(config, rng=np.random.default_rng(0))
batches = nn.Batches([known], 50, seed=0)
epochs = 12
history = nn.fit(
    model,
    batches,
    loss,
    nn.AdamW(model.parameters(), lr=0.01),
    epochs=epochs,
    schedule=nn.cosine_schedule(0.01, epochs * len(batches), warmup=40),
    clip_norm=1.0,
    validate=continued,
    progress=False,
)
print(f"loss {history.losses[0]:.3f} -> {np.mean(history.losses[-30:]):.3f}")
print("stitches late in a new row that are right:", np.round(history.metric("late"), 3)[::3])
