"""What each step's check says, and which node is to blame for a NaN or an infinity."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.primitive import primitive
from minigrad.graph.pages.explain import page_data
from minigrad.graph.pages.html import asset
from minigrad.graph.record.capture import capture
from tests.leaves import leaf

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def data_of(compute: Callable[[], Any], check: bool | None = None) -> Any:
    with mg.trace():
        loss = compute()
    loss.backward(np.ones(loss.shape))
    return page_data(capture(loss), check)


# --- checks ---


def test_of_numbers_the_derivative_itself_is_compared() -> None:
    data = data_of(lambda: np.tanh(leaf(0.3) * leaf(-2.0)))
    checks = [edge["check"] for edge in data["edges"]]
    slopes = [-2.0, 0.3, 1 - np.tanh(-0.6) ** 2]
    assert [check["exact"] for check in checks] == pytest.approx(slopes, rel=1e-12)
    assert [check["numeric"] for check in checks] == pytest.approx(slopes, rel=1e-7)
    assert {check["verdict"] for check in checks} == {"agrees"}


def test_of_arrays_the_slope_along_one_direction_is_compared() -> None:
    x, w = leaf(np.linspace(-1, 1, 6).reshape(2, 3)), leaf(np.linspace(0.5, 2, 12).reshape(3, 4))
    for edge in data_of(lambda: (np.tanh(x @ w)).mean())["edges"]:
        check = edge["check"]
        assert check is None or (check["verdict"] == "agrees" and check["numeric"] == pytest.approx(check["exact"]))


def test_a_planted_wrong_rule_is_wrong_on_exactly_its_edge() -> None:
    wrong = primitive(lambda x, y, /: x * y * y, name="planted").vjp(
        x=lambda g, y: g * y * y, y=lambda g, x, y: g * x * y
    )
    x, y = leaf([0.5, 0.7], "x"), leaf([0.3, 1.3], "y")
    data = data_of(lambda: (np.tanh(wrong(x, y)) * x).sum())
    bad = [
        (data["nodes"][edge["target"]]["operation"], edge["argument"])
        for edge in data["edges"]
        if edge["check"]["verdict"] == "wrong"
    ]
    assert bad == [("planted", "y")]
    assert sum(edge["check"]["verdict"] == "agrees" for edge in data["edges"]) == len(data["edges"]) - 1


def test_at_a_kink_there_is_no_verdict() -> None:
    (edge,) = data_of(lambda: mg.relu(leaf(0.0)))["edges"]
    assert (edge["check"]["verdict"], edge["check"]["reason"]) == ("unclear", "kink")
    assert (edge["check"]["exact"], edge["check"]["numeric"]) == (0.0, 0.5)


def test_an_operation_that_cannot_run_again_leaves_the_page_without_its_check() -> None:
    calls = []

    def once(x: Any, /) -> Any:
        calls.append(x)
        if len(calls) > 1:
            raise ValueError("only once")
        return 2 * x

    p = primitive(once, name="once").vjp(x=lambda g: 2 * g)
    data = data_of(lambda: np.tanh(p(leaf(0.1))))
    assert [edge["check"] and edge["check"]["verdict"] for edge in data["edges"]] == [None, "agrees"]


def test_large_graphs_are_checked_only_on_demand() -> None:
    def chain() -> Any:
        x = leaf(0.5)
        for _ in range(201):
            x = np.tanh(x)
        return x

    assert all(edge["check"] is None for edge in data_of(chain)["edges"])
    assert data_of(chain, check=True)["edges"][-1]["check"]["verdict"] == "agrees"


# --- culprits ---


def blamed(compute: Callable[[], Any], field: str = "bad") -> list[tuple[str, str]]:
    """The culprits' operations or names, and the reasons in English."""
    nodes = data_of(compute, check=False)["nodes"]
    assert all(
        (node["why"] is not None) == ("culprit" in (node["bad"], node["badGradient"]))
        and set(node["why"] or {}) <= {"en", "ja"}
        for node in nodes
    )
    return [(node["operation"] or node["name"], node["why"]["en"]) for node in nodes if node[field] == "culprit"]


@pytest.mark.parametrize(
    ("compute", "operation", "reason"),
    [
        (lambda x: np.sqrt(x - 2.0) * x, "sqrt", "square root of a negative number"),
        (lambda x: np.log(x - 1.0) * x, "log", "logarithm of 0"),
        (lambda x: np.log(x - 2.0) * x, "log", "logarithm of a negative number"),
        (lambda x: x / (x - 1.0), "divide", "divides by 0"),
        (lambda x: (x - 1.0) / (x - 1.0), "divide", "0 / 0"),
        (lambda x: np.exp(x * 1000.0) * x, "exp", "too large for float64"),
        (lambda x: x * 1e308 * 10.0, "multiply", "too large for float64, whose maximum is 1.8e+308"),
        (lambda x: (x - 1.0) * np.inf, "multiply", "0 · ∞"),
        (lambda x: np.power(x - 2.0, 0.5), "power", "fractional power"),
        (lambda x: np.power(x - 1.0, -1.0), "power", "0 to a negative power"),
        (lambda x: np.arcsin(x * 2.0), "arcsin", "not defined there"),
        (lambda x: np.log1p(x * -3.0), "log1p", "negative number"),
        (lambda x: np.sum(x * np.array([1e308, 1e308])), "sum", "too large"),
        (lambda x: mg.softmax(x + np.array([-np.inf, -np.inf])).sum(), "softmax", "an operand holds ∞"),
    ],
)
def test_the_first_that_made_it_is_the_culprit(compute: Any, operation: str, reason: str) -> None:
    ((who, why),) = blamed(lambda: compute(leaf(1.0, "x")))
    assert who == operation and reason in why


def test_the_reason_names_the_operand_and_its_number() -> None:
    x = leaf([4.0, -9.0, -1.0], "x")
    ((_, why),) = blamed(lambda: (np.sqrt(x) * 2.0).sum())
    assert why == "The square root of a negative number is not real: x is −9."


def test_what_came_after_is_a_victim_and_what_was_beside_is_not() -> None:
    x, y = leaf(-1.0, "x"), leaf(2.0, "y")
    nodes = data_of(lambda: np.sqrt(x) * y + np.tanh(y))["nodes"]
    states = [(node["operation"] or node["name"], node["bad"]) for node in nodes if node["operation"]]
    assert states == [("sqrt", "culprit"), ("multiply", "victim"), ("tanh", None), ("add", "victim")]
    assert [node["bad"] for node in nodes if not node["operation"]] == [None, None]  # and x is not guilty


def test_two_that_made_one_are_two_culprits() -> None:
    x = leaf(-1.0, "x")
    assert [who for who, _ in blamed(lambda: np.sqrt(x) + np.log(x))] == ["sqrt", "log"]


def test_a_value_that_was_given_so() -> None:
    held = "It already held a NaN or an infinity when this computation began."
    assert blamed(lambda: leaf(np.nan, "x") * 2.0) == [("x", held)]


def test_a_mask_is_no_mistake() -> None:
    x = leaf([1.0, 2.0], "x")
    nodes = data_of(lambda: mg.softmax(x + np.array([0.0, -np.inf])).sum())["nodes"]
    assert not any(node["bad"] or node["badGradient"] for node in nodes)


@pytest.mark.parametrize(
    ("compute", "operation", "reason"),
    [
        (lambda x: np.sqrt(x - 1.0) + x, "sqrt", "derivative of the square root at 0 is infinite"),
        (lambda x: np.where(np.array(False), np.sqrt(x - 1.0), x), "sqrt", "0 · ∞ has no value"),
        (lambda x: np.power(x - 1.0, 0.5), "power", "at x = 0 is infinite"),
        (lambda x: np.arcsin(x), "arcsin", "derivative of arcsin is infinite there: x is 1"),
        (lambda x: np.cbrt(x - 1.0), "cbrt", "infinite"),
        (lambda x: np.log((x - 1.0) + 1e-320), "log", "too near to 0"),
    ],
)
def test_backward_the_operation_whose_rule_made_it_is_the_culprit(compute: Any, operation: str, reason: str) -> None:
    assert blamed(lambda: compute(leaf(1.0, "x"))) == []
    ((who, why),) = blamed(lambda: compute(leaf(1.0, "x")), "badGradient")
    assert who == operation and reason in why


def test_backward_the_leaves_are_victims() -> None:
    nodes = data_of(lambda: np.sqrt(leaf(1.0, "x") - 1.0))["nodes"]
    assert [(node["name"], node["badGradient"]) for node in nodes if node["name"] == "x"] == [("x", "victim")]


def test_a_sum_of_gradients_that_overflows() -> None:
    x = leaf(1.0, "x")
    ((who, why),) = blamed(lambda: x * 1e308 + x * 1e308 - x * 1.0, "badGradient")
    assert who == "x" and "their sum is too large" in why


def test_after_a_nan_forward_nobody_is_to_blame_backward() -> None:
    assert blamed(lambda: np.sqrt(leaf(-1.0)) * leaf(2.0), "badGradient") == []


def test_reasons_are_in_both_languages() -> None:
    words = json.loads(asset("causes_words.json"))
    assert words["en"].keys() == words["ja"].keys()


# --- what else happened to a value ---


def changes(compute: Callable[[], Any]) -> list[list[str]]:
    return [node["changed"] for node in data_of(compute)["nodes"] if node["operation"]]


def test_broadcasting_casting_and_clipping_are_said() -> None:
    x, row = leaf(np.ones((2, 3))), leaf(np.ones(3))
    assert changes(lambda: x * row) == [["broadcast"]]
    assert changes(lambda: x * x) == [[]]
    assert changes(lambda: x @ leaf(np.ones((3, 4)))) == [[]]  # other shapes, but nothing is stretched
    assert changes(lambda: leaf(np.float32(1.0)) * leaf(np.float64(2.0))) == [["cast"]]
    assert changes(lambda: np.clip(leaf([-1.0, 0.5]), 0.0, 1.0)) == [["clipped"]]
    assert changes(lambda: np.clip(leaf([0.1, 0.5]), 0.0, 1.0)) == [[]]
