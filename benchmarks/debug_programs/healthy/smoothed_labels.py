"""Label smoothing keeps the loss above zero although every label is right."""

import numpy as np

import nn

rng = np.random.default_rng(216)
centre = 2 * rng.normal(size=(5, 8))
y = rng.integers(0, 5, 500)
x = (centre[y] + rng.normal(size=(500, 8))).astype(np.float32)
model = nn.Sequential(nn.Affine(8, 32, rng=rng), nn.functional.gelu, nn.LayerNorm(32), nn.Affine(32, 5, rng=rng))
optimizer = nn.AdamW(model.parameters(), lr=0.01)
for epoch in range(20):
    for rows in np.split(rng.permutation(500), 10):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x[rows]), y[rows], label_smoothing=0.1)
        loss.backward()
        optimizer.step()
    if epoch % 4 == 3:
        accuracy = (model(x).numpy().argmax(axis=1) == y).mean()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {accuracy:.3f}")
