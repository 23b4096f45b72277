"""The tape in forty lines, in four steps."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.learn.lessons.derived import derived
from minigrad.learn.tasks import Case, task
from minigrad.transforms.grad import grad, value_and_grad

RECORDED = "c.data, c.parents == (a, b), c.slopes"
NAMES = ("c.data", "c.parents == (a, b)", "c.slopes")
SLOPES = {"c.slopes[0]": "gradient of a", "c.slopes[1]": "gradient of b"}
GRADIENTS = {f"{name}.grad": f"gradient of {name}" for name in ("a", "b", "h", "w", "end")}


@task("3_1_tape_record.py")
def record(rng: np.random.Generator) -> Iterator[Case]:
    x, y = map(float, rng.uniform(0.5, 3, 2))
    given = "a = Value(x)\na.data, a.parents, a.slopes"
    yield Case(given, {"x": x}, (x, (), ()), ("a.data", "a.parents", "a.slopes"))
    kinds = "c = Value(x) + Value(y)\ntype(c.parents).__name__, [type(parent).__name__ for parent in c.parents]"
    yield Case(kinds, {"x": x, "y": y}, ("tuple", ["Value", "Value"]), ("type of c.parents", "type of each parent"))
    yield _recorded("a + b", x, y, x + y, (1.0, 1.0))
    yield _recorded("a * b", x, y, x * y, (y, x))
    for operation in ("a + b", "a * b"):
        kept = f"a, b = Value(x), Value(y)\nc = {operation}\na.data, b.data, a.parents"
        yield Case(kept, {"x": x, "y": y}, (x, y, ()), ("a.data", "b.data", "a.parents"), about="operands_stay")
    same = "a = Value(x)\nc = a * a\nc.data, c.parents == (a, a), c.slopes"
    yield Case(same, {"x": x}, (x * x, True, (x, x)), ("c.data", "c.parents == (a, a)", "c.slopes"))
    yield Case(
        "c = (Value(x) + Value(y)) * Value(x)\nc.slopes", {"x": x, "y": y}, (x, x + y), ("c.slopes[0]", "c.slopes[1]")
    )


def _recorded(operation: str, x: float, y: float, data: float, slopes: tuple[float, float]) -> Case:
    program = f"a, b = Value(x), Value(y)\nc = {operation}\n{RECORDED}"
    leaves = {"a": x, "b": y}
    want, forward = (data, True, slopes), f"c = {operation}"
    return Case(program, {"x": x, "y": y}, want, NAMES, forward=forward, leaves=leaves, places=SLOPES)


@task("3_2_tape_operations.py")
def operations(rng: np.random.Generator) -> Iterator[Case]:
    x, y = map(float, rng.uniform(0.5, 2, 2))
    yield _recorded("a - b", x, y, x - y, (1.0, -1.0))
    yield _recorded("a / b", x, y, x / y, (1 / y, -x / y**2))
    for name, function in (("tanh", np.tanh), ("exp", np.exp)):
        data, slope = value_and_grad(function)(x)
        program = f"a = Value(x)\nc = a.{name}()\nc.data, c.parents == (a,), c.slopes"
        want, names = (float(data), True, (float(slope),)), ("c.data", "c.parents == (a,)", "c.slopes")
        yield Case(program, {"x": x}, want, names, forward=f"c = np.{name}(a)", leaves={"a": x}, places=SLOPES)
    yield _recorded("a + b", x, y, x + y, (1.0, 1.0))  # as in 3.1
    yield _recorded("a * b", x, y, x * y, (y, x))


@task("3_3_tape_backward.py")
def backward(rng: np.random.Generator) -> Iterator[Case]:
    x, y = map(float, rng.uniform(0.5, 1.2, 2))
    run = "a, b = Value(x), Value(y)\nend = {}\nend.backward()\na.grad, b.grad, end.grad"
    for text in ("a * b + a", "a * a + b", "(a * b).tanh() * (a + b) + a * b"):
        more: dict[str, Any] = {"about": "twice", "leaves": {"a": x, "b": y}, "places": GRADIENTS}
        names, forward = ("a.grad", "b.grad", "end.grad"), f"end = {text}"
        yield derived(run.format(text), {"x": x, "y": y}, names, forward, **more)
    # h reaches the end directly and through a longer way: level by level it would be handed on too early
    da = grad(lambda a: a * a + np.tanh(a * a * a))(x)
    dh = 1 + x * (1 - math.tanh(x**3) ** 2)
    for end in ("h + (h * a).tanh()", "(h * a).tanh() + h"):
        forward = f"h = a * a\nend = {end}"
        program = f"a = Value(x)\n{forward}\nend.backward()\na.grad, h.grad"
        both = ("a.grad", "h.grad")
        yield Case(program, {"x": x}, (float(da), dh), both, forward=forward, leaves={"a": x}, places=GRADIENTS)
    deep = "a = end = Value(x)\nfor _ in range(5000):\n    end = end + a\nend.backward()\na.grad"
    yield Case(deep, {"x": x}, 5001.0, about="deep")
    doubling = "a = end = Value(x)\nfor _ in range(60):\n    end = end + end\nend.backward()\na.grad"
    yield Case(doubling, {"x": x}, 2.0**60, about="twice")


@task("3_4_tape_train.py")
def train(rng: np.random.Generator) -> Iterator[Case]:
    x, k = float(rng.uniform(0.5, 2)), float(rng.integers(2, 6))
    for text, slope in (("k * w", k), ("w * k", k), ("1 + w * w", 2 * x), ("w + k", 1.0)):
        program = f"w = Value(x)\ny = {text}\ny.backward()\nw.grad"
        leaves = {"w": x, "k": k}
        yield Case(program, {"x": x, "k": k}, slope, about="constant", forward=f"y = {text}", leaves=leaves)
    for text, value, slope in (
        ("w * (w + k)", x * (x + k), 2 * x + k),
        ("k + w", x + k, 1.0),
    ):  # two Values; the value too
        program = f"w = Value(x)\ny = {text}\ny.backward()\ny.data, w.grad"
        yield Case(program, {"x": x, "k": k}, (value, slope), ("y.data", "w.grad"), about="constant")
    again = "w = Value(x)\nh = w * w\ny = h * k\ny.backward()\ny.backward()\nw.grad"
    yield Case(again, {"x": x, "k": k}, 4 * k * x, about="again")
    pairs = [(float(a), float(b)) for a, b in rng.uniform(-1, 1, (4, 2))]
    w, b = _trained(pairs, 0.05, 10)
    program = "w, b = Value(0.5), Value(0.0)\ntrain(w, b, pairs, rate, steps)\nw.data, b.data"
    yield Case(program, {"pairs": pairs, "rate": 0.05, "steps": 10}, (w, b), ("w.data", "b.data"))


def _trained(pairs: list[tuple[float, float]], rate: float, steps: int) -> tuple[float, float]:
    x, y = np.array(pairs).T
    w, b = 0.5, 0.0
    for _ in range(steps):
        error = w * x + b - y
        w, b = w - rate * 2 * float(error @ x), b - rate * 2 * float(error.sum())
    return w, b
