import numpy as np

import nn
from models import ClassifierConfig, TransformerClassifier

# Sentences of 1 to 9 words, padded with 0: is there a word above 15?
rng = np.random.default_rng(222)
lengths = rng.integers(1, 10, 800)
ids = rng.integers(1, 18, size=(800, 9))
mask = np.arange(9) < lengths[:, None]
ids[~mask] = 0
label = (ids > 15).any(axis=1).astype(np.int64)
model = TransformerClassifier(
    ClassifierConfig(vocab_size=18, num_classes=2, d_model=16, num_heads=2, num_layers=1, hidden=32), rng=rng
)
optimizer = nn.Adam(model.parameters(), lr=0.005)
for epoch in range(10):
    total = 0.0
    for rows in np.split(rng.permutation(800), 20):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(ids[rows], mask[rows]), label[rows])
        loss.backward()
        optimizer.step()
        total += loss.item() / 20
    print(f"epoch {epoch}: {total:.4f}")
