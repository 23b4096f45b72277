"""Two interleaved half circles."""

import numpy as np
import nn

rng = np.random.default_rng(5)
angle = rng.uniform(0, np.pi, 200)
upper = np.stack([np.cos(angle[:100]), np.sin(angle[:100])], axis=1)
lower = np.stack([1 - np.cos(angle[100:]), 0.4 - np.sin(angle[100:])], axis=1)
points = (np.concatenate([upper, lower]) + rng.normal(0, 0.35, (200, 2))).astype(np.float32)
labels = np.repeat([0, 1], 100)

model = nn.Sequential(
    nn.Affine(2, 24, rng=rng),
    np.tanh,
    nn.Affine(24, 24, rng=rng),
    np.tanh,
    nn.Affine(24, 2, rng=rng),
)
optimizer = nn.SGD(model.parameters(), lr=6.0, momentum=0.5)

curve = []
for step in range(400):
    optimizer.zero_grad()
    loss = nn.cross_entropy(model(points), labels)
    loss.backward()
    optimizer.step()
    curve.append(loss.item())

for start in range(0, 400, 80):
    part = curve[start : start + 80]
    print(f"{start:3d}: min {min(part):.3f} max {max(part):.3f}")
