# Logistic regression with a large step, which this scaled problem allows.
import numpy as np
import minigrad as mg

rng = np.random.default_rng(111)
x = rng.normal(size=(500, 3))
x = (x - x.mean(axis=0)) / x.std(axis=0)
label = (x @ [2.0, -1.0, 0.5] + rng.normal(0, 0.8, 500) > 0).astype(float)


def loss(w, b):
    z = x @ w + b
    return np.mean(np.logaddexp(0.0, z) - label * z)


w, b = np.zeros(3), 0.0
slope = mg.value_and_grad(loss, (0, 1))
values = []
for step in range(60):
    value, (dw, db) = slope(w, b)
    w = w - 5.0 * dw
    b = b - 5.0 * db
    values.append(float(value))

for step in (0, 1, 5, 20, 59):
    print(step, round(values[step], 5))
right = np.mean((x @ w + b > 0) == label)
print("weights", w.round(2), "right", round(float(right), 3))
