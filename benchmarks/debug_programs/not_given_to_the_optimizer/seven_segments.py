"""Digits of a seven-segment display with noise: body and head as two modules."""

import numpy as np

import nn

rng = np.random.default_rng(40)
SEGMENTS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ]
)
digit = rng.integers(0, 10, 800)
x = (SEGMENTS[digit] + 0.35 * rng.normal(size=(800, 7))).astype(np.float32)

body = nn.Sequential(nn.Affine(7, 3, rng=rng), np.tanh)
head = nn.Affine(3, 10, rng=rng)
optimizer = nn.Adam(head.parameters(), lr=0.03)
batches = nn.Batches([x[:600], digit[:600]], 30, seed=8)
for epoch in range(20):
    for xb, yb in batches.epoch(epoch):
        loss = nn.cross_entropy(head(body(xb)), yb)
        body.zero_grad()
        head.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 3:
        hits = head(body(x[600:])).numpy().argmax(axis=1) == digit[600:]
        print(f"epoch {epoch + 1:2d} loss {loss.item():.3f} accuracy on new digits {hits.mean():.3f}")
