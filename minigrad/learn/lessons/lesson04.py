"""Vector-Jacobian and Jacobian-vector products, and what each costs."""

from collections.abc import Iterator

import numpy as np

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import AtMost, Case, task
from minigrad.transforms.derivatives import jvp


@task("4_1_jvp.py")
def forward_mode(rng: np.random.Generator) -> Iterator[Case]:
    for m, n in ((1, 2), (3, 2), (2, 4)):
        W, x, v = rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=n)
        want = jvp(lambda x: np.tanh(W @ x), (x,), (v,))  # noqa: B023
        yield Case("jvp(W, x, v)", {"W": W, "x": x, "v": v}, tuple(map(np.asarray, want)), ("y", "J @ v"))
    W, x, v = rng.normal(size=(40, 30)), rng.normal(size=30), rng.normal(size=30)
    # Two products with W, in whatever way they are written; with np.diag it is 40 * 1200.
    yield Case("work(jvp, W, x, v)", {"W": W, "x": x, "v": v}, AtMost(6 * 1200), about="no_jacobian")


@task("4_2_vjp.py", by_hand=True)
def reverse_mode(rng: np.random.Generator) -> Iterator[Case]:
    for m, n in ((1, 2), (3, 2), (3, 3), (2, 4)):
        W, x, g = rng.normal(size=(m, n)), rng.normal(size=n), rng.normal(size=m)
        names, places = ("y", "gW", "gx"), {"gW": "gradient of W", "gx": "gradient of x"}
        yield derived("vjp(W, x, g)", {"W": W, "x": x, "g": g}, names, "z = W @ x\ny = np.tanh(z)", places=places)
    W, x, g = rng.normal(size=(40, 30)), rng.normal(size=30), rng.normal(size=40)
    yield Case("work(vjp, W, x, g)", {"W": W, "x": x, "g": g}, AtMost(8 * 1200), about="no_jacobian")
