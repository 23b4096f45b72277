"""Fuel of a ferry: four linear experts (calm, current, wind, full load), and a gate that mixes them."""
import numpy as np
import minigrad as mg

EXPERTS = 4


def crossings(n, rng):
    x = rng.uniform(-1, 1, (n, 3))
    wind, current, load = x.T
    litres = np.where(wind > 0, 4.0 + 3 * wind, 4.0 - 0.5 * wind) + np.where(current > 0.2, 2 * load, -load)
    return np.column_stack([x, np.ones(n)]), litres + 0.05 * rng.normal(size=n)


def start(rng):
    return {
        "gate": 2.0 * rng.normal(size=(4, EXPERTS)),
        "gate_b": np.zeros(EXPERTS),
        "experts": 0.5 * rng.normal(size=(4, EXPERTS)) + [[0], [0], [0], [4]],
    }


def fuel(p, x):
    share = mg.softmax(x @ p["gate"] + p["gate_b"], axis=0)
    return np.sum(share * (x @ p["experts"]), axis=1)


def cost(p, x, litres):
    return np.mean((fuel(p, x) - litres) ** 2)


rng = np.random.default_rng(18)
x, litres = crossings(200, rng)
p = start(rng)
both = mg.value_and_grad(cost)
m = mg.tree_map(np.zeros_like, p)
for step in range(500):
    value, g = both(p, x, litres)
    m = mg.tree_map(lambda a, b: 0.9 * a + b, m, g)
    p = mg.tree_map(lambda a, b: a - 0.05 * b, p, m)
    if step % 100 == 0:
        print(f"{step:4d} {value:8.4f}")
fresh, burnt = crossings(90, rng)
print(f"new crossings {cost(p, fresh, burnt):.4f}   variance {burnt.var():.4f}")
