"""What is said of operations beside their rules: each is complete, and every view reads it."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, Primitive, Tensor, primitive
from minigrad.engine.registry import primitives
from minigrad.graph.pages.explain import page_data
from minigrad.graph.pages.formulas import KINDS, equation, formula, readable
from minigrad.graph.record.capture import capture
from minigrad.guards.gradients import gradient_health
from minigrad.rules.about import Cause, about, known
from tests.minigrad.graph.pages.test_formulas import differentiable, of_all_rules


def test_every_derivative_has_a_formula_that_becomes_an_equation() -> None:
    """None is told in words alone. The words after a formula are known in Japanese (test_formulas.py)."""
    met = 0
    for p in of_all_rules():
        values: dict[str, Any] = {f"{name}_shape": (2, 2) for name in p.arguments}
        values |= dict.fromkeys(p.arguments) | p.defaults | {"ans": np.ones((2, 2)), "args": [np.ones((2, 2))] * 2}
        values |= {"subscripts": "ij,jk", "i": 0}
        for argument in differentiable(p):
            found = formula(p, argument)
            assert found is not None, (p, argument)
            tree = equation(found, readable(found, values), values)
            assert tree[0] in KINDS.keys() - {"words"}, (p, argument, found.text)
            met += 1
    assert met > 230


# --- an operation that no file of minigrad has heard of ---


def _damped(x: Any, /, by: float = 2.0) -> Any:
    return np.log(x) / by


def _slope(g: Any, x: Any, by: float) -> Any:
    total = g
    for _ in range(1):  # the page cannot run a loop
        total = total / (by * x)
    return total


@pytest.fixture
def damped() -> Primitive:
    """A new operation, declared as a file of ``rules/`` does it."""
    made = primitive(_damped, name="damped").vjp(x=_slope)
    about(
        made,
        word="calm",
        notation="log(x) / by",
        elementwise=True,
        formulas={"x": "g / (by * x)"},
        for_shapes={"x": lambda by: "g / x, undamped" if by == 1 else None},
        written={"x": lambda g, x, by: g / (by * x)},
        undefined=[Cause(lambda x: x < 0, "a negative number cannot be damped")],
        steep=[Cause(lambda x: x < 1e-300, "it is too steep near 0")],
    )
    return made


def traced(f: Any, *values: float) -> Tensor:
    x = Tensor(list(values), requires_grad=True, name="x")
    with mg.trace():
        loss = np.sum(f(x))
    loss.backward()
    return loss


def test_a_new_operation_is_on_the_page_and_in_its_equations(damped: Primitive) -> None:
    data = page_data(capture(traced(damped, 0.5, 2.0)))
    node = next(node for node in data["nodes"] if node["operation"] == "damped")
    edge = next(edge for edge in data["edges"] if data["nodes"][edge["target"]] is node)
    assert node["notation"] == ["frac", ["call", "log", ["ref", "x"]], ["num", "2"]]
    assert edge["elementwise"]
    assert edge["equation"] == ["frac", ["ref", "g"], ["row", ["num", "2"], ["op", "·"], ["ref", "x"]]]
    edges = page_data(capture(traced(lambda x: damped(x, by=1.0), 0.5)))["edges"]
    assert ["row", ["frac", ["ref", "g"], ["ref", "x"]], ["words", {"en": "undamped", "ja": "undamped"}]] in [
        edge["equation"] for edge in edges
    ]


def test_the_play_panel_can_run_it(damped: Primitive) -> None:
    replay = page_data(capture(traced(damped, 0.5, 2.0)))["replay"]
    operation = replay["operations"]["damped"]
    assert operation["vjp"] == {"x": ["divide", "g", ["multiply", "by", "x"]]}
    assert replay["helpers"][operation["forward"]][2] == ["divide", ["log", "x"], "by"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_find_nan_detect_anomaly_and_the_page_know_why(damped: Primitive) -> None:
    x = Tensor([-1.0, 2.0], requires_grad=True, name="x")
    with mg.trace():
        loss = np.sum(damped(x))
    assert "a negative number cannot be damped" in str(mg.find_nan(loss))
    bad = [node["why"]["en"] for node in page_data(capture(loss))["nodes"] if node["why"]]
    assert bad[0] == "A negative number cannot be damped: x is −1."
    with mg.detect_anomaly(), pytest.raises(mg.AnomalyError, match=r"too steep near 0.\n.*where x is 1e-320"):
        damped(np.abs(x * 1e-320)).sum().backward()


def test_a_written_program_uses_its_word(damped: Primitive) -> None:
    text = str(mg.write_numpy(lambda x: np.sum(np.tanh(damped(x))), np.array([0.5, 2.0])))
    assert "calm = np.log(x) / 2.0" in text and "dcalm" in text


def test_another_operation_of_this_name_knows_nothing_of_it(damped: Primitive) -> None:
    other = primitive(lambda x, /: x * 1.0, name="damped").vjp(x=lambda g: g)
    assert known(damped).word and known(other) == known(np.sum) and formula(other, "x").text == "g"  # type: ignore[union-attr]
    damped.rules["x"] = lambda g, x: g / x  # another rule, which the formula does not describe
    assert formula(damped, "x").text == "g / x"  # type: ignore[union-attr]


def test_a_formula_for_an_argument_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"tanh has no array argument \{'y'\}; it has \('x',\)"):
        about(primitives["tanh"], formulas={"y": "0"})
    assert not known(primitives["tanh"]).formulas


def test_forward_mode_asks_no_rule_of_what_is_linear_or_a_product() -> None:
    def refused(g: Any) -> Any:
        raise AssertionError("forward mode needs no rule here")

    twice = primitive(lambda x, /: 2 * x, name="twice").vjp(x=refused)
    times = primitive(lambda x, y, /: x * y, name="product").vjp(x=lambda g, y: refused(g), y=lambda g, x: refused(g))
    about(twice, linear=True)
    about(times, product=True)
    assert mg.jvp(lambda x: times(twice(x), x), [3.0], [1.0])[1].item() == 12.0


def test_health_and_the_page_know_where_a_new_activation_is_flat_or_dead(damped: Primitive) -> None:
    about(damped, flat=lambda ans: ans > 0.5)
    cut = primitive(lambda x, /: np.where(x > 2, x, 0.0), name="cut").vjp(x=lambda g, ans: g * (ans > 0))
    about(cut, dies=True)
    x = Tensor(np.array([[1.0, 1.0], [1.5, 9.0], [2.0, 1.0], [9.0, 1.5]]).T @ np.eye(4), requires_grad=True)
    with mg.trace():
        loss = np.sum(damped(x)) + np.sum(cut(x))
    loss.backward()
    graph = capture(loss)
    assert [*gradient_health(graph).units.values()] == [("saturated", 0.25), ("dead", 0.5)]
    assert [node["tells"] for node in page_data(graph)["nodes"] if node["operation"] == "cut"] == ["zeros"]
