"""A GPT that repeats four random digits: half of the tokens cannot be predicted, so the loss stays above zero."""

import numpy as np

import models
import nn

rng = np.random.default_rng(13)


def sequences(count):
    half = rng.integers(0, 8, (count, 4))
    return np.concatenate([half, half], axis=1)


class Fresh:
    """New sequences in every epoch, from the number of the epoch."""

    def __len__(self):
        return 20

    def epoch(self, n):
        draw = np.random.default_rng(1000 + n)
        for _ in range(20):
            half = draw.integers(0, 8, (64, 4))
            yield (np.concatenate([half, half], axis=1),)


config = models.GPTConfig(vocab_size=8, window=7, d_model=32, num_heads=2, num_layers=2, std=0.1)
model = models.GPT(config, rng=rng)


def loss(model, batch):
    return nn.cross_entropy(model(batch[0][:, :-1]), batch[0][:, 1:])


def validate(model):
    ids = sequences(100)
    return {"copied": (model(ids[:, :-1]).numpy().argmax(axis=-1)[:, 3:] == ids[:, 4:]).mean()}


history = nn.fit(
    model,
    Fresh(),
    loss,
    nn.AdamW(model.parameters(), lr=0.004),
    epochs=12,
    schedule=nn.cosine_schedule(0.004, 240, warmup=20),
    clip_norm=1.0,
    validate=validate,
    progress=False,
)
print(history)
print(f"the best possible loss: {3 / 7 * np.log(8):.3f}")
