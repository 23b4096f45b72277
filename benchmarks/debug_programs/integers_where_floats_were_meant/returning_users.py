# Does a user come back? From counts of what the user did in the first week.
import numpy as np

import minigrad as mg

rng = np.random.default_rng(136)
counts = np.stack([rng.poisson(m, 600) for m in (200, 350, 120, 80)], axis=1)
chance = (counts - counts.mean(axis=0)) / counts.std(axis=0) @ [1.0, -1.0, 0.7, 0.5]
returned = (chance + 0.3 * rng.normal(size=600) > 0).astype(float)

features = np.zeros_like(counts)
for column in range(counts.shape[1]):
    c = counts[:, column]
    features[:, column] = (c - c.mean()) / (2 * c.std())


def loss(w, b, x, y):
    z = x @ w + b
    return np.mean(np.logaddexp(0.0, z) - y * z)


w, b = np.zeros(4), 0.0
for epoch in range(200):
    value, (gw, gb) = mg.value_and_grad(loss, (0, 1))(w, b, features[:500], returned[:500])
    w, b = w - 1.0 * gw, b - 1.0 * gb
    if epoch % 20 == 0:
        accuracy = ((features[500:] @ w + b > 0) == returned[500:]).mean()
        print(f"epoch {epoch}: loss {float(value):.4f}, accuracy {accuracy:.3f}")
