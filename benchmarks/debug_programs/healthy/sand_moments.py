"""A generator whose batches shall have the mean, the variances and the covariance of a sample of sand grains."""
import numpy as np
import minigrad as mg

rng = np.random.default_rng(110)
grains = rng.multivariate_normal([1.5, -0.5], [[0.8, 0.5], [0.5, 0.6]], 2000)
want_mean = grains.mean(axis=0)
want_second = grains.T @ grains / len(grains)


def generate(p, noise):
    return np.tanh(noise @ p["in"] + p["b"]) @ p["out"] + p["shift"]


def mismatch(p, noise):
    made = generate(p, noise)
    mean = made.mean(axis=0)
    second = made.T @ made / len(noise)
    return ((mean - want_mean) ** 2).sum() + ((second - want_second) ** 2).sum()


p = {"in": rng.normal(size=(3, 10)), "b": np.zeros(10), "out": rng.normal(size=(10, 2)) * 0.1, "shift": np.zeros(2)}
slope = mg.value_and_grad(mismatch)
for step in range(600):
    value, g = slope(p, rng.normal(size=(256, 3)))
    p = {k: p[k] - 0.01 * g[k] for k in p}
    if step % 100 == 0:
        print(step, round(float(value), 4))

made = generate(p, rng.normal(size=(5000, 3)))
print("mean", made.mean(0).round(2), "wanted", want_mean.round(2))
print("covariance", np.cov(made.T).round(2).tolist(), "wanted", np.cov(grains.T).round(2).tolist())
