"""Five kinds of pollen under the microscope, told apart by 14 measurements."""
import numpy as np
import minigrad as mg

KINDS, MEASURES, HIDDEN = 5, 14, 40
world = np.random.default_rng(6)
typical = world.normal(0, 0.8, (KINDS, MEASURES))
slides = world.integers(0, KINDS, 1200)
grains = typical[slides] + world.normal(0, 1.0, (1200, MEASURES))
train_x, train_y = grains[:900], slides[:900]
test_x, test_y = grains[900:], slides[900:]


def pick(count):
    rng = np.random.default_rng(1)
    rows = rng.choice(len(train_x), count, replace=False)
    return train_x[rows], train_y[rows]


def logits(p, x):
    hidden = np.maximum(x @ p["in"] + p["shift"], 0)
    return hidden @ p["out"] + p["bias"]


def loss(p, x, y):
    return mg.cross_entropy(logits(p, x), y)


p = {
    "in": world.normal(0, MEASURES**-0.5, (MEASURES, HIDDEN)),
    "shift": np.zeros(HIDDEN),
    "out": world.normal(0, HIDDEN**-0.5, (HIDDEN, KINDS)),
    "bias": np.zeros(KINDS),
}
gradient = mg.value_and_grad(loss)
speed = mg.tree_map(np.zeros_like, p)
for step in range(800):
    x, y = pick(20)
    value, g = gradient(p, x, y)
    for name in p:
        speed[name] = 0.9 * speed[name] - 0.02 * g[name]
        p[name] = p[name] + speed[name]
    if step % 160 == 0:
        print(f"step {step}: {float(value):.4f}")

right = np.mean(logits(p, test_x).argmax(axis=1) == test_y)
print(f"last loss {float(value):.4f}")
print(f"right on other slides: {right:.3f}, loss there {float(loss(p, test_x, test_y)):.3f}")
