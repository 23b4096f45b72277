import numpy as np

import nn

rng = np.random.default_rng(50)
n = 400
label = rng.integers(0, 2, n)
angle = rng.uniform(0, 2 * np.pi, n)
radius = 1.0 + label + 0.15 * rng.normal(size=n)
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)

model = nn.Sequential(nn.Affine(2, 16, rng=rng), nn.functional.relu, nn.Affine(16, 2, rng=rng))
optimizer = nn.Adam(model.parameters(), lr=0.01)

for epoch in range(60):
    rows = rng.permutation(n)
    losses = []
    for batch in np.split(rows, 10):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(points[batch]), label[batch])
        optimizer.step()
        loss.backward()
        losses.append(loss.item())
    if epoch % 10 == 0:
        right = (model(points).numpy().argmax(axis=1) == label).mean()
        print(f"epoch {epoch}: loss {np.mean(losses):.4f}  accuracy {right:.3f}")
