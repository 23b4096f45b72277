"""Four small batches make one step, because a large batch does not fit into memory."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(7)
x = rng.normal(size=(512, 6)).astype(np.float32)
y = (np.abs(x[:, 0]) + x[:, 1] * x[:, 2] > 0.7).astype(np.int64)

model = nn.Sequential(nn.Affine(6, 48, rng=rng), mg.relu, nn.Affine(48, 2, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=0.01)
PARTS = 4

for epoch in range(40):
    total = 0.0
    for number, rows in enumerate(np.array_split(rng.permutation(512), 32)):
        loss = nn.cross_entropy(model(x[rows]), y[rows]) / PARTS
        loss.backward()
        total += loss.item() * PARTS
        if number % PARTS == PARTS - 1:
            optimizer.step()
            optimizer.zero_grad()
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: {total / 32:.4f}")
print("accuracy", (model(x).numpy().argmax(axis=1) == y).mean())
