"""Does the river flood tomorrow? Logistic regression on the level, the rain and the snow."""

import numpy as np

import minigrad as mg

rng = np.random.default_rng(3)
level = rng.normal(220, 60, 400)
rain = rng.gamma(2.0, 6.0, 400)
snow = rng.gamma(1.0, 10.0, 400)
X = np.stack([level, rain, snow], axis=1)
risk = (level - 220) / 60 + (rain - 12) / 8 + 0.3 * rng.normal(size=400)
y = (risk > 0.5).astype(float)
X = X - X.mean(axis=0)


def loss(weights, X, y):
    p = 1 / (1 + np.exp(-(X @ weights["w"] + weights["b"])))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


weights = {"w": rng.normal(size=3) * 0.5, "b": 0.0}
step = mg.value_and_grad(loss)
for epoch in range(201):
    value, grad = step(weights, X, y)
    weights = {name: weights[name] - 0.5 * grad[name] for name in weights}
    if epoch % 50 == 0:
        print(f"epoch {epoch}: loss {value:.4f}")

p = 1 / (1 + np.exp(-(X @ weights["w"] + weights["b"])))
print(f"accuracy {np.mean((p > 0.5) == y):.3f}")
