"""Two interleaved half moons, with batches drawn at random."""

import numpy as np

import minigrad as mg
import nn


def moons(count, rng):
    label = rng.integers(0, 2, count)
    angle = rng.uniform(0, np.pi, count)
    x = np.where(label == 0, np.cos(angle), 1 - np.cos(angle))
    y = np.where(label == 0, np.sin(angle), 0.5 - np.sin(angle))
    return (np.stack([x, y], axis=1) + rng.normal(0, 0.18, (count, 2))).astype(np.float32), label


def draw(points, label, size, seed=42):
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(points), size, replace=False)
    return points[rows], label[rows]


points, label = moons(800, np.random.default_rng(0))
new_points, new_label = moons(400, np.random.default_rng(1))

rng = np.random.default_rng(2)
net = nn.Sequential(nn.Affine(2, 32, rng=rng), mg.relu, nn.Affine(32, 32, rng=rng), mg.relu, nn.Affine(32, 2, rng=rng))
optimizer = nn.Adam(net.parameters(), lr=0.01)

for step in range(500):
    x, y = draw(points, label, 16)
    optimizer.zero_grad()
    loss = nn.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step:3d}  loss {loss.item():.4f}")

logits = net(new_points).numpy()
print("unseen: accuracy", np.mean(logits.argmax(axis=1) == new_label), end=", ")
print("loss", round(nn.cross_entropy(logits, new_label).item(), 3))
