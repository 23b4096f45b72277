"""Good or bad? Reviews of different lengths, padded with zeros, and a small Transformer."""

import numpy as np

import nn
from models import ClassifierConfig, TransformerClassifier

PAD = 0
rng = np.random.default_rng(85)


def reviews(n):
    lengths = rng.integers(3, 11, n)
    lengths[: n // 3] = 10
    ids = rng.integers(1, 30, size=(n, 10))
    ids[np.arange(10) >= lengths[:, None]] = PAD
    good, bad = (ids >= 25).sum(axis=1), ((ids >= 1) & (ids < 6)).sum(axis=1)
    keep = good != bad
    return ids[keep], (good > bad)[keep].astype(np.int64)


ids, labels = reviews(900)
new_ids, new_labels = reviews(400)
model = TransformerClassifier(
    ClassifierConfig(vocab_size=30, num_classes=2, d_model=16, num_heads=2, num_layers=1, hidden=32), rng=rng
)
optimizer = nn.Adam(model.parameters(), lr=0.005)


def logits(ids):
    mask = ids == PAD
    return model(ids, mask)


batches = nn.Batches([ids, labels], 50, seed=1)
for epoch in range(8):
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(logits(x), y)
        loss.backward()
        optimizer.step()
    accuracy = (logits(new_ids).numpy().argmax(axis=1) == new_labels).mean()
    print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy on new reviews {accuracy:.3f}")
