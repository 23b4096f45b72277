import numpy as np
import minigrad as mg

rng = np.random.default_rng(90)
n_train, n_test = 400, 200

# Heating load of a building from its geometry (eight columns, already between -1 and 1).
geometry = rng.uniform(-1, 1, (n_train + n_test, 8))
load = (
    2.0 * geometry[:, 0] - 1.2 * geometry[:, 1] ** 2 + np.sin(3 * geometry[:, 2])
    + geometry[:, 3] * geometry[:, 4] + rng.normal(0, 0.1, n_train + n_test)
)
load = load - load[:n_train].mean()
train, test = slice(0, n_train), slice(n_train, None)

weights = {"in": 0.6 * rng.normal(size=(8, 30)), "mid": 0.25 * rng.normal(size=(30, 30)), "out": 0.2 * rng.normal(size=30)}
biases = {"in": np.zeros(30), "mid": np.zeros(30)}


def predict(weights, biases, x):
    h = np.tanh(x @ weights["in"] + biases["in"])
    h = np.tanh(h @ weights["mid"] + biases["mid"])
    return h @ weights["out"]


def cost(weights, biases, x, y):
    error = np.mean((predict(weights, biases, x) - y) ** 2)
    penalty = sum(np.sum(w**2) for w in weights.values())
    return error + 0.8 * penalty, error


step = mg.value_and_grad(cost, (0, 1), has_aux=True)
for iteration in range(800):
    (value, error), grads = step(weights, biases, geometry[train], load[train])
    weights, biases = mg.tree_map(lambda p, g: p - 0.1 * g, (weights, biases), tuple(grads))
    if iteration % 200 == 0:
        print(f"{iteration:4d}  cost {float(value):.4f}  error {float(error):.4f}")

missed = predict(weights, biases, geometry[test]) - load[test]
print("sizes of the weights:", {k: round(float(np.linalg.norm(w)), 3) for k, w in weights.items()})
print(f"R2 on buildings that were kept back: {1 - np.mean(missed**2) / np.var(load[test]):.3f}")
