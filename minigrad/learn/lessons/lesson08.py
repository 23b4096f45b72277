"""Derivatives of derivatives."""

from collections.abc import Iterator

import numpy as np

from minigrad.learn.data import Code
from minigrad.learn.tasks import AtMost, Case, task
from minigrad.transforms.derivatives import hvp
from minigrad.transforms.grad import grad


@task("8_1_newton.py")
def newton(rng: np.random.Generator) -> Iterator[Case]:
    for text, x, steps in (
        ("lambda x: x * x - 2 * x", float(rng.uniform(3, 6)), 1),
        ("lambda x: x * x - 2 * x", float(rng.uniform(-4, -1)), 1),  # from the left: the slope is negative
        ("lambda x: x * x - 2 * x", 4.0, 3),  # after one step the slope is 0, and the path stays there
        ("lambda x: x**4 - 2 * x * x", float(rng.uniform(1.5, 2.5)), 5),
        ("lambda x: x**4 - 2 * x * x", float(rng.uniform(0.2, 0.35)), 6),  # bends downward here
        ("lambda x: np.exp(x) - 2 * x", float(rng.uniform(0, 1)), 0),
    ):
        f = eval(text, {"np": np})
        slope, bend = grad(f), grad(grad(f))
        path = [x]
        for _ in range(steps):
            path.append(path[-1] - float(slope(path[-1])) / abs(float(bend(path[-1]))))
        inputs = {"slope": Code(_SLOPES[text][0]), "bend": Code(_SLOPES[text][1]), "x": x, "steps": steps}
        yield Case("newton(slope, bend, x, steps)", inputs, np.array(path), tolerance=1e-6)


_SLOPES = {
    "lambda x: x * x - 2 * x": ("lambda x: 2 * x - 2", "lambda x: 2.0"),
    "lambda x: x**4 - 2 * x * x": ("lambda x: 4 * x**3 - 4 * x", "lambda x: 12 * x * x - 4"),
    "lambda x: np.exp(x) - 2 * x": ("lambda x: np.exp(x) - 2", "lambda x: np.exp(x)"),
}


@task("8_2_hessian_vector.py")
def hessian_vector(rng: np.random.Generator) -> Iterator[Case]:
    for m, n in ((1, 2), (3, 2), (2, 2), (2, 4)):
        W, x, v = rng.normal(size=(m, n)) / 2, rng.normal(size=n), rng.normal(size=n)

        def f(x):  # type: ignore[no-untyped-def]
            return np.sum(np.exp(W @ x))  # noqa: B023

        want = (np.asarray(grad(f)(x)), np.asarray(hvp(f, (x,), (v,))[0]))
        inputs, forward = {"W": W, "x": x, "v": v}, "f = np.exp(W @ x).sum()"
        yield Case("hvp(W, x, v)", inputs, want, ("gradient of x", "H @ v"), forward=forward)
    W, x, v = rng.normal(size=(30, 40)) / 10, rng.normal(size=40), rng.normal(size=40)
    # Four products with W, in whatever way they are written; H alone would be 40 * 1200.
    yield Case("work(hvp, W, x, v)", {"W": W, "x": x, "v": v}, AtMost(10 * 1200), about="no_hessian")
