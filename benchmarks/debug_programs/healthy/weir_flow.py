"""Water over a weir: all measurements in every step, a large rate and momentum."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(57)
height, width, slope = rng.uniform(0.1, 1, 350), rng.uniform(1, 4, 350), rng.uniform(0, 1, 350)
flow = 1.8 * width * height**1.5 * (1 + 0.3 * slope) + rng.normal(0, 0.05, 350)
X = np.stack([height, width, slope], axis=1)
X = (X - X.mean(axis=0)) / X.std(axis=0)
Y = (flow - flow.mean()) / flow.std()

# weights are columns here, so the features run along axis 0
p = {"A": rng.normal(0, 0.5, (30, 3)), "a": np.full((30, 1), 0.1), "B": rng.normal(0, 0.2, (1, 30)), "b": np.zeros((1, 1))}
p["a"][:6] = -9.0


def network(p, columns):
    return p["B"] @ np.maximum(p["A"] @ columns + p["a"], 0) + p["b"]


def error(p, columns, wanted):
    fit = np.mean((network(p, columns)[0] - wanted) ** 2)
    return fit + 1e-5 * (np.sum(p["A"] ** 2) + np.sum(p["B"] ** 2))


step = mg.value_and_grad(error)
velocity = mg.tree_map(np.zeros_like, p)
for n in range(600):
    value, g = step(p, X[:250].T, Y[:250])
    length = np.sqrt(sum(np.sum(a * a) for a in g.values()))
    rate = 0.15 if n < 450 else 0.02
    for name in p:
        velocity[name] = 0.8 * velocity[name] - rate * min(1.0, 1.0 / length) * g[name]
        p[name] = p[name] + velocity[name]
    if n % 100 == 0:
        print(n, f"{float(value):.4f}")
print(f"end {float(value):.4f}; on others {np.mean((network(p, X[250:].T)[0] - Y[250:]) ** 2):.4f}")
