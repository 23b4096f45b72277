import numpy as np
import minigrad as mg


def orchard(rng, n):
    """Colour and firmness of plums, and the grader's column: 1 is unripe, 2 is ripe."""
    ripe = rng.random(n) < 0.5
    colour = np.where(ripe, 0.8, -0.6) + rng.normal(0, 0.7, n)
    firmness = np.where(ripe, -0.7, 0.5) + rng.normal(0, 0.8, n)
    return np.stack([colour, firmness, colour * firmness], axis=1), np.where(ripe, 2, 1)


def logit(weights, x):
    w, b = weights
    return x @ w + b


def penalty(weights, x, y):
    z = logit(weights, x)
    return (np.logaddexp(0, z) - y * z).mean()


def main():
    rng = np.random.default_rng(8)
    x, grade = orchard(rng, 800)
    y = grade.astype(float)
    x_new, grade_new = orchard(rng, 400)
    weights = (np.zeros(3), np.zeros(()))
    slope = mg.value_and_grad(penalty)
    for sweep in range(600):
        value, (dw, db) = slope(weights, x, y)
        weights = (weights[0] - 0.3 * dw, weights[1] - 0.3 * db)
        if sweep % 100 == 99:
            called = np.where(logit(weights, x_new) > 0, 2, 1)
            print(f"{sweep + 1:4d}  loss {value:9.3f}  graded as by hand {np.mean(called == grade_new):.3f}")


main()
