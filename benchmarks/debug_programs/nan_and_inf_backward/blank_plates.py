"""Photographs of culture plates (6 x 6 grey values): how many colonies grew? Some plates stayed empty."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(14)
N, SIDE, WIDTH = 320, 6, 24
plates = np.zeros((N, SIDE * SIDE))
colonies = rng.integers(1, 7, N)
colonies[rng.random(N) < 0.03] = 0
for plate, k in zip(plates, colonies):
    spots = rng.choice(SIDE * SIDE, k, replace=False)
    plate[spots] = rng.uniform(0.6, 1.0, k)


def dense(n_in, n_out):
    return mg.Tensor(rng.normal(0, np.sqrt(2 / n_in), (n_in, n_out)), requires_grad=True)


W, V = dense(SIDE * SIDE, WIDTH), dense(WIDTH, 1)
c = mg.Tensor([3.0], requires_grad=True)
weights = [W, V, c]


def standardised(a):
    centre = a.mean(axis=1, keepdims=True)
    spread = np.sqrt(((a - centre) ** 2).mean(axis=1, keepdims=True)) + 1e-6
    return (a - centre) / spread


def count(images):
    return (standardised(mg.relu(images @ W)) @ V + c)[:, 0]


size = 16
for epoch in range(12):
    total = 0.0
    for start in range(0, N, size):
        pictures, truth = plates[start:start + size], colonies[start:start + size]
        loss = ((count(pictures) - truth) ** 2).mean()
        loss.backward()
        for p in weights:
            p.data -= 0.02 * p.grad
            p.zero_grad()
        total += loss.item()
    print(f"epoch {epoch:2d}   mean squared error {total * size / N:.3f}")
