"""Nudging and the chain rule."""

from collections.abc import Iterator

import numpy as np

from minigrad.learn.data import Code
from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import AtMost, Case, task
from minigrad.transforms.grad import grad

NUDGED = 1e-5  # relative error that a nudge of 1e-5 may leave


@task("1_1_nudge.py")
def nudge(rng: np.random.Generator) -> Iterator[Case]:
    for text in ("lambda x: x * x", "lambda x: x**3 - 2 * x", "lambda x: np.sin(x) * np.exp(x)"):
        x = float(rng.uniform(0.5, 2.5))
        derivative = grad(eval(text, {"np": np}))(x)
        yield Case("slope(f, x)", {"f": Code(text), "x": x}, float(derivative), tolerance=NUDGED)
    # A quadratic is exact for any h; a cubic is off by h ** 2 exactly, which shows whether h is used on both sides.
    yield Case("slope(f, x, h)", {"f": Code("lambda x: x * x"), "x": -1.5, "h": 0.25}, -3.0)
    yield Case("slope(f, x, h)", {"f": Code("lambda x: x**3"), "x": 1.0, "h": 0.5}, 3.25)


@task("1_2_gradient_by_nudging.py")
def gradient(rng: np.random.Generator) -> Iterator[Case]:
    for text, shape in (
        ("lambda x: x[0] * x[1]", (2,)),
        ("lambda x: np.sum(x**3)", (2, 3)),
        ("lambda x: np.sum(np.tanh(x[0]) * x[1])", (2, 2, 2)),
    ):
        x = rng.uniform(0.5, 1.5, shape)
        want = np.asarray(grad(eval(text, {"np": np}))(x))
        inputs, forward = {"f": Code(text), "x": x}, text.replace("lambda x:", "y =")
        yield Case("gradient(f, x)", inputs, want, tolerance=NUDGED, forward=forward, leaves={"x": x})
    cube, x = Code("lambda x: np.sum(x**3)"), rng.uniform(1, 2, 3)
    yield Case("gradient(f, x, h)", {"f": cube, "x": x, "h": 0.1}, 3 * x**2 + 0.01)
    yield Case("f = Calls(f)\ngradient(f, x)\nf.count", {"f": cube, "x": rng.normal(size=5)}, AtMost(10), about="calls")


@task("1_3_chain_rule.py")
def chain_rule(rng: np.random.Generator) -> Iterator[Case]:
    for _ in range(3):
        inputs = dict(zip("wbxy", map(float, rng.uniform(-1, 1, 4) + [0.2, 0, 1.5, 0])))
        names, places = ("loss", "dloss/dw", "dloss/db"), {f"dloss/d{name}": f"gradient of {name}" for name in "wb"}
        forward = "z = w * x + b\na = np.tanh(z)\nloss = (a - y) ** 2"
        yield derived("neuron(w, b, x, y)", inputs, names, forward, places=places)
