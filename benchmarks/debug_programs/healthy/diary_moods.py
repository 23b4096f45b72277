"""The mood of diary entries of different lengths; some days have no entry at all."""
import numpy as np
import models
import nn

rng = np.random.default_rng(118)
WORDS, LONGEST, PAD = 40, 9, 0


def diary(n):
    mood = rng.integers(0, 2, n)
    lengths = rng.integers(0, LONGEST + 1, n)
    ids = np.full((n, LONGEST), PAD)
    for i in range(n):
        own = 1 + 12 * mood[i] + rng.integers(0, 12, lengths[i])
        ids[i, : lengths[i]] = np.where(rng.random(lengths[i]) < 0.7, own, rng.integers(25, WORDS, lengths[i]))
    return ids, np.where(lengths == 0, -1, mood)


def loss(model, batch):
    ids, mood = batch
    written = ids != PAD
    written[:, 0] |= ~written.any(axis=1)
    return nn.cross_entropy(model(ids, written), mood, ignore_index=-1)


ids, mood = diary(500)
config = models.ClassifierConfig(vocab_size=WORDS, num_classes=2, d_model=16, num_heads=2, num_layers=1, dropout=0.1)
model = models.TransformerClassifier(config, rng=rng)
history = nn.fit(
    model, nn.Batches([ids, mood], 25, seed=3), loss, nn.AdamW(model.parameters(), lr=0.005), epochs=10, clip_norm=5.0,
    schedule=nn.cosine_schedule(0.005, 200, warmup=20), progress=False,
)
print("loss", np.round([history.losses[0], np.mean(history.losses[-20:])], 3))
ids, mood = diary(300)
there = mood >= 0
print("right:", (model(ids[there], ids[there] != PAD).numpy().argmax(1) == mood[there]).mean().round(3))
