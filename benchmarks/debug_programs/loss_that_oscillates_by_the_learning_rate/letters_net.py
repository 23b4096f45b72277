"""Tell four noisy 5x5 letters apart with a small network."""

import numpy as np

import minigrad as mg
import nn

LETTERS = [
    "#####..#....#....#....#..",
    "#...##...######...##...##",
    "#....#....#....#....#####",
    "#####....#..#..#....#####",
]
LETTERS = [(row + "." * 25)[:25] for row in LETTERS]
glyphs = np.array([[float(c == "#") for c in row] for row in LETTERS], np.float32)
rng = np.random.default_rng(19)
which = rng.integers(0, 4, 640)
noisy = (glyphs[which] + rng.normal(0, 0.6, (640, 25))).astype(np.float32)

seed = np.random.default_rng(0)
net = nn.Sequential(
    nn.Affine(25, 32, rng=seed), np.tanh, nn.Affine(32, 32, rng=seed), np.tanh, nn.Affine(32, 4, rng=seed)
)
optimizer = nn.SGD(net.parameters(), lr=4.0)

shuffler = np.random.default_rng(5)
for epoch in range(20):
    losses = []
    for rows in np.split(shuffler.permutation(512), 16):
        optimizer.zero_grad()
        loss = nn.cross_entropy(net(noisy[rows]), which[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d}  first {losses[0]:.3f}  last {losses[-1]:.3f}  worst {max(losses):.3f}")

with mg.no_grad():
    accuracy = np.mean(net(noisy[512:]).numpy().argmax(axis=1) == which[512:])
print("accuracy", accuracy)
