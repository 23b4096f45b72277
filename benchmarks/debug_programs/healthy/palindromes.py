"""A small GPT that learns to write the second half of a palindrome."""

import numpy as np

import models
import nn

rng = np.random.default_rng(83)
LETTERS, HALF = 8, 4


def palindromes(count):
    half = rng.integers(0, LETTERS, (count, HALF))
    return np.concatenate([half, half[:, ::-1]], axis=1)


config = models.GPTConfig(vocab_size=LETTERS, window=2 * HALF, d_model=32, num_heads=2, num_layers=2, std=0.1)
gpt = models.GPT(config, rng=np.random.default_rng(0))


def loss(model, batch):
    (text,) = batch
    labels = text[:, 1:].copy()
    labels[:, : HALF - 1] = -1
    return nn.cross_entropy(model(text[:, :-1]), labels, ignore_index=-1)


unseen = palindromes(100)


def validate(model):
    written = np.stack(list(model.generate(unseen[:, :HALF], HALF, rng=np.random.default_rng(0), top_k=1)), axis=1)
    return {"letters": float(np.mean(written == unseen[:, HALF:]))}


EPOCHS = 6
batches = nn.Batches([palindromes(1280)], 32, seed=1)
history = nn.fit(
    gpt,
    batches,
    loss,
    nn.AdamW(gpt.parameters(), lr=0.01),
    epochs=EPOCHS,
    schedule=nn.one_cycle_schedule(0.01, EPOCHS * len(batches)),
    clip_norm=0.5,
    validate=validate,
    progress=False,
)
print("loss", np.round(history.losses[::40], 3))
print("letters right", np.round(history.metric("letters"), 3))
