"""Ringers' rows as a small GPT: rows of different lengths, padded on the right; the padding is not part of the loss."""
import numpy as np
import models
import nn

BELLS, LONGEST = 6, 10
PAD, START = BELLS, BELLS + 1
rng = np.random.default_rng(12)


def rows(n):
    ids = np.full((n, LONGEST + 1), PAD)
    ids[:, 0] = START
    lengths = rng.integers(4, LONGEST + 1, n)
    for row, k in zip(ids, lengths):
        first, step = rng.integers(0, BELLS), rng.choice([1, 2, 5])
        row[1:k + 1] = (first + step * np.arange(k)) % BELLS
    return ids, lengths


ids, lengths = rows(240)
config = models.GPTConfig(vocab_size=BELLS + 2, window=LONGEST, d_model=24, num_heads=2, num_layers=1, std=0.1)
model = models.GPT(config, rng=rng)


def loss(model, batch):
    ids, lengths = batch
    mask = nn.padding_mask(lengths, LONGEST)
    logits = model(ids[:, :-1], key_mask=mask)
    labels = np.where(mask, ids[:, 1:], -1)
    return nn.cross_entropy(logits, labels, ignore_index=-1)


batches = nn.Batches([ids, lengths], 24, seed=8)
schedule = nn.cosine_schedule(0.01, 15 * len(batches), warmup=10)
run = nn.fit(
    model, batches, loss, nn.AdamW(model.parameters(), lr=0.01), epochs=15,
    schedule=schedule, clip_norm=1.0, progress=False,
)
print("loss", *np.round(run.losses[::25], 3), "->", round(float(np.mean(run.losses[-5:])), 3))
peal = list(model.generate([[START, 2, 4], [START, 5, 4]], 5, rng=rng, temperature=0))
print(np.stack(peal, axis=1).tolist())
