"""Four small batches make one update, for a machine with little memory."""

import numpy as np

import nn

rng = np.random.default_rng(64)
speed = rng.normal(size=(640, 5)).astype(np.float32)
gear = np.argmax(np.stack([speed[:, 0] + speed[:, 1], speed[:, 2] - speed[:, 0], speed[:, 3] * speed[:, 4]]), axis=0)

model = nn.Sequential(
    nn.Affine(5, 40, rng=rng),
    nn.LayerNorm(40),
    nn.functional.gelu,
    nn.Affine(40, 3, rng=rng),
)
optimizer = nn.AdamW(model.parameters(), lr=0.01)
PARTS = 4
model.zero_grad()
seen = 0
for epoch in range(40):
    order = rng.permutation(512)
    for k in range(0, 512, 16):
        rows = order[k : k + 16]
        loss = nn.cross_entropy(model(speed[rows]), gear[rows]) / PARTS
        loss.backward()
        seen += 1
        if seen % PARTS:
            continue
        nn.clip_grad_norm(model.parameters(), 2.0)
        optimizer.step()
        optimizer.zero_grad()
    if epoch % 8 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item() * PARTS:.3f}")

print("right:", np.mean(model(speed[512:]).numpy().argmax(axis=1) == gear[512:]).round(3))
