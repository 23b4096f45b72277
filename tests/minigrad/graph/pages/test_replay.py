"""Rules and forwards as the trees that the page interprets; tests/browser/test_whatif.py runs them."""

from typing import Any

import numpy as np

import minigrad as mg
from minigrad.engine.primitive import primitive
from minigrad.graph.pages.replay import replay_data
from minigrad.graph.record.capture import capture


def replayed(f: Any) -> dict[str, Any]:
    x = mg.Tensor([0.5, 1.0], requires_grad=True)
    with mg.trace():
        loss = f(x)
    return replay_data(capture(loss))


def test_a_rule_is_its_own_tree() -> None:
    tanh = replayed(np.tanh)["operations"]["tanh"]
    assert tanh["forward"] == "tanh"
    assert tanh["vjp"] == {"x": ["multiply", "g", ["subtract", 1, ["multiply", "ans", "ans"]]]}


def test_helpers_go_along_once() -> None:
    data = replayed(lambda x: mg.silu(x) * mg.silu(x))
    (name,) = {data["operations"]["silu"]["forward"]}
    assert data["helpers"][name][0] == ["x"]
    assert len([key for key in data["helpers"] if "logistic" in key]) == 1


def in_steps(g: Any, x: Any) -> Any:
    if x.ndim > 9:
        raise ValueError("a check that the program passed")
    slope = 3 * x
    slope *= x
    return g * slope


def in_a_loop(g: Any, x: Any) -> Any:
    for _ in range(2):
        g = g * x
    return 3 * g


def test_assignments_are_read_and_loops_are_not() -> None:
    trees = []
    for rule in (in_steps, in_a_loop):
        cube = primitive(lambda x, /: x * x * x, name="cube").vjp(x=rule)
        trees.append(replayed(cube)["operations"]["cube"]["vjp"])
    assert trees[1] == {}
    assigned = [["=", "slope", ["multiply", 3, "x"]], ["=", "slope", ["multiply", "slope", "x"]]]
    assert trees[0] == {"x": [";", *assigned, ["multiply", "g", "slope"]]}


def test_two_operations_of_one_name_are_not_mistaken() -> None:
    first, second = (primitive(f, name="same").vjp(x=lambda g: g) for f in (lambda x, /: x + 1, lambda x, /: x + 2))
    assert "same" not in replayed(lambda x: second(first(x)))["operations"]
