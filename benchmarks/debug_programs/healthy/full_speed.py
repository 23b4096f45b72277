# Logistic regression by plain gradient descent, with as large a rate as the problem bears.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(2)
x = rng.normal(size=(300, 8))
x = (x - x.mean(axis=0)) / x.std(axis=0)
true = rng.normal(size=8)
y = (x @ true + 0.5 * rng.normal(size=300) > 0).astype(float)


def cost(p, x, y):
    z = x @ p["w"] + p["b"]
    return np.mean(np.logaddexp(0, z) - y * z) + 0.003 * np.sum(p["w"] ** 2)


p = {"w": np.zeros(8), "b": 0.0}
slope = mg.value_and_grad(cost)
for step in range(60):
    value, g = slope(p, x[:220], y[:220])
    p = mg.tree_map(lambda a, d: a - 3.0 * d, p, g)
    if step % 10 == 0:
        print(step, round(float(value), 4))
print("accuracy", np.mean((x[220:] @ p["w"] + p["b"] > 0) == (y[220:] > 0)))
cosine = p["w"] @ true / np.linalg.norm(p["w"]) / np.linalg.norm(true)
print("direction found:", cosine.round(3))
