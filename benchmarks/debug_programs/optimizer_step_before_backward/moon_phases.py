"""Two crescents of points, told apart by a small network."""

import numpy as np

import nn

rng = np.random.default_rng(32)
angle = rng.uniform(0, np.pi, 300)
upper = np.stack([np.cos(angle), np.sin(angle)], axis=1)
lower = np.stack([1 - np.cos(angle), 0.4 - np.sin(angle)], axis=1)
points = np.concatenate([upper, lower]) + rng.normal(0, 0.1, (600, 2))
points = points.astype(np.float32)
side = np.repeat([0, 1], 300)
mixed = rng.permutation(600)
points, side = points[mixed], side[mixed]

net = nn.Sequential(
    nn.Affine(2, 20, rng=rng),
    np.tanh,
    nn.Affine(20, 20, rng=rng),
    np.tanh,
    nn.Affine(20, 2, rng=rng),
)
opt = nn.RMSProp(net.parameters(), lr=0.003)


def accuracy():
    return np.mean(net(points).numpy().argmax(axis=1) == side)


for epoch in range(25):
    running = 0.0
    for k in range(0, 600, 40):
        opt.zero_grad()
        loss = nn.cross_entropy(net(points[k : k + 40]), side[k : k + 40])
        opt.step()
        loss.backward()
        running += loss.item() * 40 / 600
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}   loss {running:.4f}   accuracy {accuracy():.3f}")

print("final accuracy", round(float(accuracy()), 3))
