"""Refraction of amber from its ingredients: minimise with momentum and a rate that falls to 0 at the last step."""
import numpy as np
import minigrad as mg

STEPS, TOP = 1500, 0.08


def rate_at(step):
    return TOP * max(0.0, 1 - (step + 1) / STEPS) if step > 50 else TOP * step / 50


def amber(rng, n):
    x = rng.dirichlet(np.ones(4), n)
    return x, 3 * x[:, 0] * x[:, 1] + np.sqrt(x[:, 2]) - 0.5 * x[:, 3] ** 2 + 0.01 * rng.normal(size=n)


def predict(p, x):
    for w, b in p[:-1]:
        x = np.tanh(x @ w + b)
    return (x @ p[-1][0] + p[-1][1])[:, 0]


def loss(p, x, y):
    return np.mean((predict(p, x) - y) ** 2)


def main():
    rng = np.random.default_rng(36)
    x, y = amber(rng, 900)
    x_new, y_new = amber(rng, 300)
    sizes = (4, 20, 20, 1)
    p = [(rng.normal(0, 1.5 / np.sqrt(a), (a, b)), np.zeros(b)) for a, b in zip(sizes, sizes[1:])]
    pace = mg.tree_map(np.zeros_like, p)
    slope = mg.value_and_grad(loss)
    for step in range(STEPS):
        rows = rng.choice(900, 64, replace=False)
        value, g = slope(p, x[rows], y[rows])
        pace = mg.tree_map(lambda v, d: 0.9 * v + d, pace, g)
        p = mg.tree_map(lambda a, v: a - rate_at(step) * v, p, pace)
        if step % 300 == 299:
            print(f"{step + 1}: rate {rate_at(step):.4f} loss {value:.5f} unseen {loss(p, x_new, y_new):.5f} of {y_new.var():.3f}")


main()
