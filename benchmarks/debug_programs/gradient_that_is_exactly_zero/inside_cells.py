import numpy as np
import minigrad as mg

# a = inputs, c = class of each point: inside a triangle or not
rng = np.random.default_rng(70)
a = rng.uniform(-1, 1, (400, 2))
c = ((a[:, 1] > -0.5) & (a[:, 1] < 0.8 - 1.5 * a[:, 0]) & (a[:, 1] < 0.8 + 1.5 * a[:, 0])).astype(float)

U = rng.normal(size=(2, 5)) * 2
u = rng.normal(size=5)
V = rng.normal(size=5)
v = np.array(0.0)


def net(U, u, V, v):
    cells = np.sign(a @ U + u)
    return cells @ V + v


def loss(U, u, V, v):
    z = net(U, u, V, v)
    return np.mean(np.logaddexp(0, z) - c * z)


slope = mg.value_and_grad(loss, (0, 1, 2, 3))
w = (U, u, V, v)
for i in range(1500):
    L, g = slope(*w)
    w = tuple(p - 0.8 * q for p, q in zip(w, g))
    if i % 300 == 0:
        print("step", i, "loss", round(float(L), 4))

print("loss", round(float(L), 4), "right", np.mean((net(*w) > 0) == c))
