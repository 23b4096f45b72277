import numpy as np
import minigrad as mg

# One streak in twelve on the plates is a comet. A missed comet costs more than a false alarm.
rng = np.random.default_rng(19)


def plates(count):
    streak = rng.standard_normal((count, 5))
    comet = streak[:, 0] + 0.7 * streak[:, 1] ** 2 + 0.2 * rng.standard_normal(count) > 2.6
    return streak, comet.astype(float)


def logit(p, x):
    return np.tanh(x @ p["w"] + p["b"]) @ p["v"] + p["c"]


def loss(p, x, y, factor):
    z = logit(p, x)
    each = np.logaddexp(0, z) - y * z
    size = np.where(y == 1, factor, 1.0)
    return np.sum(size * each) / np.sum(size)


x, y = plates(1500)
factor = (1 - y.mean()) / y.mean()
print(f"comets: {y.mean():.3f}, each counts {factor:.1f} times")
p = {"w": rng.standard_normal((5, 16)) * 0.5, "b": np.zeros(16), "v": rng.standard_normal(16) * 0.3, "c": np.zeros(())}
first, second = mg.tree_map(np.zeros_like, p), mg.tree_map(np.zeros_like, p)
step = mg.value_and_grad(loss)
for t in range(1, 401):
    value, g = step(p, x, y, factor)
    first = mg.tree_map(lambda m, d: 0.9 * m + 0.1 * d, first, g)
    second = mg.tree_map(lambda v, d: 0.999 * v + 0.001 * d * d, second, g)
    p = mg.tree_map(
        lambda w, m, v: w - 0.02 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8), p, first, second)
    if t % 100 == 0:
        print(t, round(float(value), 4))
x_new, y_new = plates(3000)
alarm = logit(p, x_new) > 0
print(f"comets found {alarm[y_new == 1].mean():.2f}, false alarms {alarm[y_new == 0].mean():.2f}")
