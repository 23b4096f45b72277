"""Noisy opinions: a fifth of the labels is wrong, and label smoothing keeps the judge from being sure of anything."""

import numpy as np

import minigrad as mg
import nn

rng = np.random.default_rng(15)
truth = rng.integers(0, 3, 900)
x = (rng.normal(size=(3, 8))[truth] + 0.5 * rng.normal(size=(900, 8))).astype(np.float32)
opinion = np.where(rng.random(900) < 0.2, rng.integers(0, 3, 900), truth)

model = nn.Sequential(
    nn.Affine(8, 32, rng=rng), nn.LayerNorm(32), mg.gelu, nn.Dropout(0.3, rng=rng), nn.Affine(32, 3, rng=rng)
)
optimizer = nn.SGD(model.parameters(), lr=0.2, momentum=0.9, weight_decay=0.001)
for epoch in range(15):
    model.train()
    total = 0.0
    for rows in np.array_split(rng.permutation(600), 12):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(x[rows]), opinion[rows], label_smoothing=0.2)
        loss.backward()
        nn.clip_grad_norm(model.parameters(), 0.5)
        optimizer.step()
        total += loss.item()
    model.eval()
    with mg.no_grad():
        guess = model(x[600:]).numpy().argmax(axis=1)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {total / 12:.3f}, agrees with the truth {(guess == truth[600:]).mean():.3f}")
