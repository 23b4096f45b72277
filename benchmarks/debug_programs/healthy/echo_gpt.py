"""A small GPT learns to repeat the first half of a sequence."""

import models
import numpy as np
import nn

rng = np.random.default_rng(113)
HALF = 4
first = rng.integers(0, 6, (256, HALF))
ids = np.concatenate([first, first], axis=1)

config = models.GPTConfig(vocab_size=6, window=2 * HALF, d_model=32, num_heads=2, num_layers=2)
model = models.GPT(config, rng=rng)


def loss(model, batch):
    (tokens,) = batch
    logits = model(tokens[:, :-1])
    return nn.cross_entropy(logits[:, HALF - 1 :], tokens[:, HALF:])


def exact(model):
    fresh = rng.integers(0, 6, (100, HALF))
    tokens = np.concatenate([fresh, fresh], axis=1)
    guess = model(tokens[:, :-1]).numpy()[:, HALF - 1 :].argmax(axis=-1)
    return {"exact": float((guess == fresh).all(axis=1).mean())}


batches = nn.Batches([ids], 32, seed=3)
optimizer = nn.AdamW(model.parameters(), lr=0.005, weight_decay=0.01)
history = nn.fit(model, batches, loss, optimizer, epochs=25, clip_norm=1.0, validate=exact, progress=False)
print([round(value, 3) for value in history.losses[::40]])
print("exact", history.metric("exact")[-1])
