"""Which corner of the picture is bright? A small vision Transformer."""

import numpy as np

import nn
from models import VisionTransformer, VisionTransformerConfig

rng = np.random.default_rng(96)
corner = rng.integers(0, 4, 400)
pictures = 0.5 * rng.random((400, 8, 8))
for picture, c in zip(pictures, corner):
    r, s = 4 * (c // 2), 4 * (c % 2)
    picture[r : r + 4, s : s + 4] += 0.3 * rng.random((4, 4))
pictures = pictures[..., None].astype(np.float32)

config = VisionTransformerConfig(image_size=8, patch_size=4, num_classes=4, d_model=16, num_heads=2, num_layers=1)
model = VisionTransformer(config, rng=rng)
optimizer = nn.Adam(model.parameters(), lr=0.3)
batches = nn.Batches([pictures, corner], 40, seed=6)
for epoch in range(20):
    losses = []
    for x, y in batches.epoch(epoch):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch:2d}: {' '.join(f'{v:.2f}' for v in losses)}")
