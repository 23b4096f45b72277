"""A Transformer classifier for padded messages: are there more happy signs than sad ones?"""

import numpy as np

import models
import nn

PAD, HAPPY, SAD, SIGNS = 0, (1, 2, 3), (4, 5, 6), 14
rng = np.random.default_rng(69)


def messages(n, length=9):
    lengths = rng.integers(3, length + 1, n)
    ids = rng.integers(1, SIGNS, (n, length))
    mask = nn.padding_mask(lengths, length)
    ids = np.where(mask, ids, PAD)
    score = np.isin(ids, HAPPY).sum(axis=1) - np.isin(ids, SAD).sum(axis=1)
    return ids, mask, (score > 0).astype(np.int64)


config = models.ClassifierConfig(vocab_size=SIGNS, num_classes=2, d_model=16, num_heads=2, num_layers=1, dropout=0.1)
model = models.TransformerClassifier(config, rng=rng)
optimizer = nn.Adam(model.parameters(), lr=5e-3)
test = messages(300)


def accuracy():
    model.eval()
    ids, mask, mood = test
    right = np.mean(model(ids, mask).numpy().argmax(axis=1) == mood)
    model.train()
    return right


for step in range(300):
    ids, mask, mood = messages(32)
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(ids, mask), mood)
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(f"step {step:3d}  loss {loss.item():.3f}  right {accuracy():.3f}")
print("right in the end:", accuracy())
