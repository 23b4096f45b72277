"""Recognise four glyphs on grey pictures, 0 to 255."""

import numpy as np

import nn

rng = np.random.default_rng(135)
glyph = (rng.random((4, 6, 6)) < 0.4).astype(float)
label = rng.integers(0, 4, 500)
grey = 30 + 190 * glyph[label] + 15 * rng.normal(size=(500, 6, 6))
pictures = np.clip(grey, 0, 255).astype(np.uint8)

x = pictures.reshape(500, 36) // 255
model = nn.Sequential(nn.Affine(36, 32, rng=rng), nn.functional.relu, nn.Affine(32, 4, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=0.01)
batches = nn.Batches([x.astype(np.float32), label], 50, seed=0)
for epoch in range(15):
    for xb, yb in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        accuracy = (model(x.astype(np.float32)).numpy().argmax(axis=1) == label).mean()
        print(f"epoch {epoch + 1:2d}: loss {loss.item():.4f}, accuracy {accuracy:.3f}")
