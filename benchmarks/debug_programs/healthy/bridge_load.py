"""Deflection of a small bridge, one full batch, wide rectified layer."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(101)
mass = rng.uniform(0.5, 4.0, 90)
place = rng.uniform(0.0, 1.0, 90)
sag = mass * place * (1 - place) * (1 + 0.3 * np.sin(6 * place))
X = np.column_stack([mass - 2.25, 4 * place - 2])
y = (sag - sag.mean()) / sag.std()

W = rng.normal(size=(2, 64)) * 0.7
b = rng.normal(size=64) - 0.5
c = rng.normal(size=64) / 8
d = np.zeros(1)


def bend(W, b, c, d, X):
    return mg.relu(X @ W + b) @ c + d


def cost(W, b, c, d):
    return ((bend(W, b, c, d, X) - y) ** 2).mean()


pull = mg.value_and_grad(cost, (0, 1, 2, 3))
for epoch in range(1500):
    now, (gW, gb, gc, gd) = pull(W, b, c, d)
    W -= 0.08 * gW
    b -= 0.08 * gb
    c -= 0.08 * gc
    d -= 0.08 * gd
    if epoch % 300 == 0:
        print(epoch, round(float(now), 5))

idle = int((X @ W + b <= 0).all(axis=0).sum())
print("loss", round(float(cost(W, b, c, d)), 5), "units that are never on:", idle)
