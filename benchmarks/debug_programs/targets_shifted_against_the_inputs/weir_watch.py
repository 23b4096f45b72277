"""The flow over a weir tomorrow, from three gauges today."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(28)
DAYS = 600
gauges = np.zeros((DAYS, 3))
flow = np.zeros(DAYS)
for day in range(1, DAYS):
    gauges[day] = 0.2 * gauges[day - 1] + rng.standard_normal(3)
    today = gauges[day - 1]
    flow[day] = today[0] - 0.6 * today[1] * today[2] + 0.1 * rng.standard_normal()

x = np.column_stack([gauges, gauges**2])[:-1]
y = flow[:-1]
print("days:", len(x), len(y))


def predict(p, x):
    h = np.tanh(x @ p["in"] + p["bias"])
    return h @ p["out"] + p["level"]


def loss(p, x, y):
    return np.mean((predict(p, x) - y) ** 2)


p = {"in": rng.standard_normal((6, 24)) * 0.4, "bias": np.zeros(24), "out": rng.standard_normal(24) * 0.2, "level": np.zeros(())}
velocity = mg.tree_map(np.zeros_like, p)
derivative = mg.value_and_grad(loss)
for step in range(900):
    rows = rng.integers(0, 450, 40)
    value, g = derivative(p, x[rows], y[rows])
    velocity = mg.tree_map(lambda v, d: 0.9 * v - 0.02 * d, velocity, g)
    p = mg.tree_map(np.add, p, velocity)
    if step % 300 == 0:
        print(f"{step:4d} {float(value):.3f}")
print(f"squared error on the last days {loss(p, x[450:], y[450:]):.3f}, variance {np.var(y[450:]):.3f}")
