# How late will the bus be, and how sure are we?  Two outputs per trip: a centre and a spread, in minutes.
import numpy as np
import minigrad as mg

gen = np.random.default_rng(3)
n = 300
hour = gen.uniform(5, 23, n)
rain = gen.random(n)
x = np.stack([(hour - 14) / 9, rain, np.ones(n)], axis=1)
true_spread = 0.15 + 0.9 * rain ** 2
late = 1.0 + 0.8 * x[:, 0] + true_spread * gen.normal(size=n)

params = {
    "w1": gen.normal(0, 0.6, (3, 12)),
    "b1": np.zeros(12),
    "w2": gen.normal(0, 0.3, (12, 2)),
    "b2": np.array([0.0, 1.0]),
}


def outputs(p, x):
    hidden = np.tanh(x @ p["w1"] + p["b1"])
    both = hidden @ p["w2"] + p["b2"]
    return both[:, 0], both[:, 1]


def nll(centre, spread, late):
    return np.log(spread) + (late - centre) ** 2 / (2 * spread ** 2)


def objective(p, x, late):
    centre, spread = outputs(p, x)
    return np.mean(nll(centre, spread, late))


step = mg.value_and_grad(objective)
for i in range(400):
    value, slope = step(params, x, late)
    params = mg.tree_map(lambda a, g: a - 0.05 * g, params, slope)
    if i % 50 == 0:
        print(i, round(float(value), 4))

centre, spread = outputs(params, x)
print("final", float(objective(params, x, late)))
