"""Grade wines from five laboratory values. Linear regression and a small network, side by side."""

import minigrad as mg
import numpy as np

rng = np.random.default_rng(30)
N, CUT = 900, 700


def laboratory(n):
    values = rng.normal(size=(n, 5))
    grade = 6 + 0.8 * values[:, 0] - 0.5 * values[:, 1] + 0.7 * np.tanh(2 * values[:, 2]) + rng.normal(0, 0.2, n)
    return values, grade


def mixed(rows):
    """The rows in another order: the cellar is sorted by region."""
    return rows[rng.permutation(len(rows))]


values, grades = laboratory(N)
values, grades = mixed(values), mixed(grades)
x_train, x_test = values[:CUT], values[CUT:]
y_train, y_test = grades[:CUT], grades[CUT:]


def straight(p, x):
    return x @ p["w"] + p["b"]


def curved(p, x):
    return np.tanh(x @ p["u"] + p["c"]) @ p["v"] + p["b"]


def train(predict, p, steps, rate):
    gradient = mg.value_and_grad(lambda p, x, y: np.mean((predict(p, x) - y) ** 2))
    for step in range(steps):
        value, g = gradient(p, x_train, y_train)
        p = mg.tree_map(lambda a, d: a - rate * d, p, g)
        if step % 200 == 0:
            print(f"  {step:4d} {float(value):.3f}")
    return p


print("straight")
line = train(straight, {"w": np.zeros(5), "b": 0.0}, 400, 0.05)
print("curved")
net = train(
    curved, {"u": rng.normal(0, 0.5, (5, 20)), "c": np.zeros(20), "v": rng.normal(0, 0.2, 20), "b": 6.0}, 1000, 0.05
)
for name, predict, p in (("straight", straight, line), ("curved", curved, net)):
    share = 1 - np.mean((predict(p, x_test) - y_test) ** 2) / np.var(y_test)
    print(f"{name}: explains {share:.2f} of the variance of {len(y_test)} other wines")
