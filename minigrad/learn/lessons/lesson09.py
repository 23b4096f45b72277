"""Training: momentum, Adam, clipping. The expected values are those of nn's formulas, written out number by number."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.learn.tasks import Case, task


@task("9_1_momentum.py")
def momentum(rng: np.random.Generator) -> Iterator[Case]:
    for shape, steps in (((2,), 1), ((3,), 3), ((2, 2), 6)):
        w, gradients = rng.normal(size=shape), list(rng.normal(size=(steps, *shape)))
        rate, beta = float(rng.uniform(0.05, 0.2)), float(rng.uniform(0.5, 0.9))
        # The step k gets gradient j with the factor beta ** (k - j): a closed form instead of a velocity.
        moved = [g * (1 - beta ** (steps - j)) / (1 - beta) for j, g in enumerate(gradients)]
        inputs = {"w": w, "gradients": gradients, "rate": rate, "beta": beta}
        about = "later_steps" if steps > 1 else ""
        yield Case("momentum(w, gradients, rate, beta)", inputs, w - rate * np.sum(moved, axis=0), about=about)


@task("9_2_adam.py")
def adam(rng: np.random.Generator) -> Iterator[Case]:
    for shape, steps, eps in (((2,), 1, 1e-8), ((3,), 4, 1e-8), ((2, 2), 3, 0.5)):
        w, gradients = rng.normal(size=shape), list(rng.normal(size=(steps, *shape)))
        rate, beta1, beta2 = float(rng.uniform(0.05, 0.2)), 0.8, 0.95
        inputs = {"w": w, "gradients": gradients, "rate": rate, "beta1": beta1, "beta2": beta2, "eps": eps}
        want = w - rate * sum(_adam_step(gradients[:t], beta1, beta2, eps) for t in range(1, steps + 1))
        program = "adam(w, gradients, rate, beta1, beta2, eps)"
        yield Case(program, inputs, want, about="later_steps" if steps > 1 else "")
    # So small that the eps of the signature shows.
    w, gradients = rng.normal(size=2), list(rng.normal(size=(2, 2)) * 1e-6)
    want = w - 0.1 * sum(_adam_step(gradients[:t], 0.9, 0.999, 1e-8) for t in (1, 2))
    yield Case("adam(w, gradients, rate)", {"w": w, "gradients": gradients, "rate": 0.1}, want, about="defaults")


def _adam_step(gradients: list[Any], beta1: float, beta2: float, eps: float) -> Any:
    """The step after these gradients: weighted means, whose weights sum to one."""
    ages = np.arange(len(gradients))[::-1]
    means = [np.average(np.power(gradients, p), axis=0, weights=b**ages) for p, b in ((1, beta1), (2, beta2))]
    return means[0] / (np.sqrt(means[1]) + eps)


@task("9_3_clipping.py")
def clipping(rng: np.random.Generator) -> Iterator[Case]:
    two = ((2, 3), (4,))
    for shapes, longer, less in ((((1,), (1,)), True, 1), (two, True, 1), (two, True, 50), (two, False, 1)):
        # Where `less` is large, the second alone is short.
        gradients = [rng.normal(size=shape) / less**i for i, shape in enumerate(shapes)]
        norm = math.sqrt(math.fsum(x * x for g in gradients for x in g.ravel().tolist()))
        limit = norm * float(rng.uniform(0.2, 0.8) if longer else rng.uniform(1.5, 3))
        want = [g * (limit / norm) if longer else g for g in gradients]
        names = ("norm", "gradients")
        about = "" if longer else "small_gradient"
        program = "norm, clipped = clip(gradients, limit)\nnorm, tuple(clipped)"
        yield Case(program, {"gradients": gradients, "limit": limit}, (norm, tuple(want)), names, about=about)
    zero = [np.zeros(2), np.zeros((1, 2))]
    yield Case(program, {"gradients": zero, "limit": 1.0}, (0.0, tuple(zero)), names, about="small_gradient")
