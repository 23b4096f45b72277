import numpy as np
import minigrad as mg

# Does a sample of dust come from the old quarry (1) or the new one (2)?
rng = np.random.default_rng(77)
grain = rng.standard_normal((400, 4))
origin = 1 + (grain[:, 0] - grain[:, 3] + 0.4 * rng.standard_normal(400) > 0)


def network(p, x):
    return np.maximum(x @ p["w1"] + p["b1"], 0) @ p["w2"] + p["b2"]


def loss(p, x, y):
    z = network(p, x)
    return np.mean(np.logaddexp(0, z) - y * z)


p = {"w1": rng.standard_normal((4, 12)) * 0.5, "b1": np.zeros(12), "w2": rng.standard_normal(12) * 0.3, "b2": np.zeros(())}
target = origin.astype(float)
gradient = mg.value_and_grad(loss)
for round_ in range(300):
    value, g = gradient(p, grain[:300], target[:300])
    p = {k: p[k] - 0.05 * g[k] for k in p}
    if round_ % 100 == 0:
        print(round_, round(float(value), 3))

found = np.where(network(p, grain[300:]) > 0, 2, 1)
print("loss at the end", round(float(value), 3))
print("right on 100 new samples:", int((found == origin[300:]).sum()))
