"""The health of gradients: norms, growth from turn to turn, and units that are dead or saturated."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.graph.record.capture import capture
from minigrad.guards.gradients import Turns, by_layer, gradient_health, norm, together


def leaf(value: Any) -> Any:
    return mg.Tensor(value, requires_grad=True)


def health(f: Any) -> gradient_health:
    with mg.trace():
        loss = f().sum()
    loss.backward()
    return gradient_health(capture(loss))


def test_a_norm_is_computed_in_double_precision() -> None:
    assert norm(np.array([3e30, 4e30], np.float32)) == pytest.approx(5e30)
    assert norm(leaf([[3.0], [4.0]])) == 5.0


def test_a_layer_is_the_module_around_its_parameters() -> None:
    layers = by_layer(["net.0.weight", "net.0.bias", "scale", "net.1.weight"])
    assert layers == {"net.0": [0, 1], "scale": [2], "net.1": [3]}
    np.testing.assert_array_equal(together(np.array([[3.0, 4.0], [np.nan, 2.0], [np.nan, np.nan]])), [5.0, 2.0, np.nan])


def test_the_gradient_of_a_loop_by_turns() -> None:
    def loop() -> Any:
        h, w = leaf([1.0, 2.0]), leaf(3.0)
        for _ in range(4):
            h = h * w
        return h

    (turns,) = [turns for turns in health(loop).turns if turns.nodes[0].operation == "multiply"]
    assert len(turns.nodes) == 4 and turns.factor == pytest.approx(3.0)
    assert turns.norms == pytest.approx([27 * 2**0.5, 9 * 2**0.5, 3 * 2**0.5, 2**0.5])


@pytest.mark.parametrize("norms", [[0.0, 1.0], [1.0, 0.0], [np.inf, 1.0], [1.0, np.inf], [np.nan, 1.0]])
def test_a_gradient_that_is_zero_or_not_finite_has_no_growth(norms: list[float]) -> None:
    assert Turns([], norms).ratio == Turns([], norms).factor == 1.0


ROWS = np.array([[1.0, -1.0, -2.0, 3.0], [2.0, -3.0, 1.0, -1.0]])


@pytest.mark.parametrize(
    ("f", "kind", "share"),
    [
        (lambda: mg.relu(leaf(ROWS)), "dead", 0.25),  # the second unit is 0 in both rows
        (lambda: np.maximum(leaf(ROWS), 0), "dead", 0.25),
        (lambda: np.tanh(leaf(np.where(ROWS > 0, 5.0, 0.1))), "saturated", 0.5),
        (lambda: mg.sigmoid(leaf(np.where(ROWS > 1, -9.0, 0.1))), "saturated", 0.25),
        (lambda: mg.softmax(leaf(np.where(ROWS == 3, 50.0, 0.0))) @ np.eye(4), "saturated", 0.5),
    ],
    ids=["relu", "maximum", "tanh", "sigmoid", "softmax"],
)
def test_dead_and_saturated_units(f: Any, kind: str, share: float) -> None:
    assert list(health(f).units.values()) == [(kind, share)]


def test_the_probabilities_of_a_loss_are_not_saturated() -> None:
    def entropy() -> Any:
        p = mg.softmax(leaf(np.where(ROWS == 3, 50.0, 0.0)))
        return p * np.log(p)

    assert health(entropy).units == {}
    assert health(lambda: np.tanh(leaf([50.0, 60.0]))).units == {}  # one row is too little to judge
