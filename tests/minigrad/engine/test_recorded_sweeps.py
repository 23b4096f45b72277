"""Sweeps with create_graph: which rules they run, and what autograd_grad knows of the graph that it does not sweep."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor


def scaled(asked: list[str]) -> Any:
    """A product whose rules tell which of them ran."""

    def rule_x(g: Any, y: Any) -> Any:
        asked.append("x")
        return g * y

    def rule_y(g: Any, x: Any) -> Any:
        asked.append("y")
        return g * x

    return mg.primitive(lambda x, y, /: x * y, name="scaled").vjp(x=rule_x, y=rule_y)


def test_only_the_rules_of_wanted_gradients_run() -> None:
    asked: list[str] = []
    product = scaled(asked)
    x: Any = Tensor([2.0, 3.0], requires_grad=True)
    w: Any = Tensor([5.0, 7.0], requires_grad=True)
    y = product(np.sin(x), w)
    (slope,) = mg.autograd_grad(y.sum(), x, create_graph=True)
    assert asked == ["x"]
    slope.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), np.cos(x.numpy()))
    np.testing.assert_allclose(x.grad.numpy(), -np.sin(x.numpy()) * w.numpy())
    asked.clear()
    mg.autograd_grad(y.sum(), [x, w], create_graph=True)
    assert asked == ["x", "y"]


def test_a_composition_runs_only_the_rules_of_wanted_gradients() -> None:
    asked: list[str] = []
    product = scaled(asked)
    shifted = mg.primitive(lambda x, y, /: x * y + 1, name="shifted").reference(lambda x, y, /: product(x, y) + 1)
    x: Any = Tensor([2.0, 3.0], requires_grad=True)
    w: Any = Tensor([5.0, 7.0], requires_grad=True)
    (slope,) = mg.autograd_grad(shifted(x * x, w).sum(), x, create_graph=True)
    assert asked == ["x"]
    slope.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), 2 * x.numpy())


@pytest.mark.parametrize("history", [0, 3])
def test_unused_inputs_are_found_behind_any_history(history: int) -> None:
    old: Any = Tensor(0.5, requires_grad=True)
    value = old
    for _ in range(history):
        value = np.sin(value)
    x: Any = value * 1.0
    other: Any = old * 2.0
    y = np.exp(x)
    (found,) = mg.autograd_grad(y, x, retain_graph=True)
    assert found.item() == pytest.approx(np.exp(x.item()))
    for unused in ([other], [x, other], [other, old]):
        with pytest.raises(mg.GraphError, match="was not used to compute the outputs"):
            mg.autograd_grad(y, unused, retain_graph=True)
    assert mg.autograd_grad(y, [other, x], retain_graph=True, allow_unused=True)[0] is None
    parts: Any = np.split(np.ones(4) * x, 2)
    (of_part,) = mg.autograd_grad((parts[1] * 2).sum(), parts[1])
    np.testing.assert_array_equal(of_part.numpy(), [2.0, 2.0])
