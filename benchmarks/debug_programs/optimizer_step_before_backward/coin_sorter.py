"""Sort coins by weight, width and thickness."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(10)
kinds = np.array([[2.3, 16.3, 1.7], [3.1, 18.8, 1.7], [3.9, 21.3, 1.7], [4.1, 19.8, 1.9], [5.7, 22.3, 2.1]])
labels = rng.integers(0, 5, 500)
coins = kinds[labels] + rng.normal(size=(500, 3)) * [0.15, 0.2, 0.05]
coins = ((coins - coins.mean(axis=0)) / coins.std(axis=0)).astype(np.float32)

model = nn.Sequential(nn.Affine(3, 32, rng=rng), mg.relu, nn.Affine(32, 5, rng=rng))
optimizer = nn.AdamW(model.parameters(), lr=0.01)
batches = nn.Batches([coins, labels], 50, seed=0)

for epoch in range(10):
    total = 0.0
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x), y)
        optimizer.step()
        loss.backward()
        total += loss.item()
    accuracy = (model(coins).numpy().argmax(axis=1) == labels).mean()
    print(f"epoch {epoch}: loss {total / len(batches):.3f}, accuracy {accuracy:.3f}")
