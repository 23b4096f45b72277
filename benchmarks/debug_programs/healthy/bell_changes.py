"""A GPT that rings: eight bells, each round is the last one with neighbours swapped."""

import numpy as np

import models
import nn

BELLS, ROUNDS = 5, 4
rng = np.random.default_rng(68)


def ring(n):
    row = np.stack([rng.permutation(BELLS) for _ in range(n)])
    rows = [row]
    for k in range(1, ROUNDS):
        row = row.copy()
        first = k % 2
        row[:, first : first + 4] = row[:, first : first + 4].reshape(n, 2, 2)[:, :, ::-1].reshape(n, 4)
        rows.append(row)
    return np.concatenate(rows, axis=1)


def loss(model, batch):
    (ids,) = batch
    logits = model(ids[:, :-1])
    return nn.cross_entropy(logits[:, BELLS - 1 :], ids[:, BELLS:])


config = models.GPTConfig(vocab_size=BELLS, window=BELLS * ROUNDS, d_model=24, num_heads=2, num_layers=2, std=0.1)
model = models.GPT(config, rng=rng)
peal = ring(640)
batches = nn.Batches([peal], 32, seed=9)
steps = 14 * len(batches)
history = nn.fit(
    model,
    batches,
    loss,
    nn.AdamW(model.parameters(), lr=6e-3),
    epochs=14,
    schedule=nn.cosine_schedule(6e-3, steps, warmup=20),
    clip_norm=1.0,
    progress=False,
)
print([round(x, 3) for x in history.losses[::40]])

fresh = ring(50)
tokens = np.stack(list(model.generate(fresh[:, :BELLS], BELLS * 3, rng=rng, top_k=1)), axis=1)
print("rung correctly:", np.mean(tokens == fresh[:, BELLS:]))
