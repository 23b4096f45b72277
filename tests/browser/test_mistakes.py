"""Which mistake a wrong answer comes from: the known ones are named, against finite differences; others never are."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.graph.pages.explain import SCRIPTS, packed
from minigrad.graph.pages.html import save_page
from tests.minigrad.graph.pages.taught import page_of

PROGRAMS = tomllib.loads((Path(__file__).parent / "mistakes.toml").read_text(encoding="utf-8"))


@pytest.fixture
def js(show: Callable[..., Any], tmp_path: Path) -> Callable[[str], Any]:
    """`js(program)` opens the page of a program, and returns a function that runs JavaScript there."""

    def js(source: str) -> Any:
        data = packed(page_of(source) | {"written": None})
        path = save_page(tmp_path / "page.html", "stepper", data, "en", scripts=SCRIPTS, more=["play", "data"])
        return show(path).evaluate

    return js


class Quiz:
    """The questions of a program, by the names of both ends of the edge that is asked about."""

    def __init__(self, source: str, js: Callable[[str], Any]) -> None:
        self.js = js(source)

    def step(self, target: str, source: str, kind: str = "product") -> int:
        found = self.js(
            """(wanted) => timeline.steps.findIndex(([kind, edge]) => kind === wanted[2] &&
              labelOf(graph.edges[edge].target) === wanted[0] && labelOf(graph.edges[edge].source) === wanted[1])""",
            [target, source, kind],
        )
        assert found >= 0
        return int(found) + 1

    def asked(self, *of: str) -> Any:
        return self.js("(step) => mistakes.question(step)", self.step(*of))

    def said(self, answer: float | str, *of: str) -> str | None:
        return self.js(
            "([answer, step]) => mistakes.diagnose(answer, mistakes.question(step))", [answer, self.step(*of)]
        )


def derivative(f: Callable[[float], float], at: float) -> float:
    return (f(at + 1e-6) - f(at - 1e-6)) / 2e-6


def test_the_chain_rule_and_its_mistakes(js: Callable[[str], Any]) -> None:
    quiz = Quiz(PROGRAMS["CHAIN"], js)
    u = 3 * 0.7
    local = derivative(np.sin, u)
    incoming = derivative(np.square, np.sin(u))
    assert quiz.asked("v", "u")["right"] == pytest.approx(local * incoming, rel=1e-6)
    assert quiz.said(local * incoming, "v", "u") == "right"
    assert quiz.said(f"{local * incoming:.3g}", "v", "u") == "right"
    assert quiz.said(f"{local:.3g}", "v", "u") == "local"
    assert quiz.said(f"{incoming:.3f}", "v", "u") == "incoming"
    assert quiz.said(-local * incoming, "v", "u") == "sign"
    assert quiz.said("2.1", "v", "u") == "value"
    for other in (0.1, 17, -3.3, "1e9", 0):
        assert quiz.said(other, "v", "u") is None


def test_a_decimal_comma_is_read_as_well(js: Callable[[str], Any]) -> None:
    quiz = Quiz(PROGRAMS["CHAIN"], js)
    assert quiz.said("2,1", "v", "u") == "value"


def test_the_forgotten_path(js: Callable[[str], Any]) -> None:
    quiz = Quiz(PROGRAMS["TWO_PATHS"], js)
    last = max((quiz.step(target, "w"), target) for target in "ab")[1]
    asked = quiz.asked(last, "w")
    assert asked["of"] == "sum" and asked["right"] == 3 * (2 * 2 + 1)
    assert [quiz.said(answer, last, "w") for answer in (15, 9, 6, 2, -15, 12)] == [
        "right", "path", "path", "value", "sign", None,
    ]  # fmt: skip
    first = "a" if last == "b" else "b"
    assert quiz.asked(first, "w")["of"] == "raw"


def test_a_gradient_that_is_handed_on_before_it_is_complete(js: Callable[[str], Any]) -> None:
    """loss = a * (a + 1) with a = 3 x: the 7 from it alone makes 21 of 39, and the 6 through b alone 18; see lesson 2."""
    quiz = Quiz(PROGRAMS["EARLY"], js)
    said = [quiz.said(answer, "a", "x") for answer in ("39", "21", "18", "3", "13", "20")]
    assert said == ["right", "early", "early", "local", "incoming", None]


def test_one_of_three_paths_alone_and_one_left_out(js: Callable[[str], Any]) -> None:
    quiz = Quiz(PROGRAMS["THREE_PATHS"], js)
    last = max((quiz.step(target, "x"), target) for target in "abc")[1]
    said = {answer: quiz.said(answer, last, "x") for answer in (15, 5, 3, 7, 8, 10, 12, 4, 2)}
    assert said == dict.fromkeys((5, 3, 7, 8, 10, 12), "path") | {15: "right", 4: None, 2: "value"}


def test_two_mistakes_with_the_same_number_are_not_named(js: Callable[[str], Any]) -> None:
    quiz = Quiz(PROGRAMS["TWO_PATHS"], js)
    # Of a * b by a: b = 3 is right. 6 is the value of a, and also the derivative by b.
    assert quiz.said(3, "loss", "a") == "right"
    kinds = quiz.js(
        "(step) => mistakes.mutants(mistakes.question(step)).filter(({ value }) => value === 6)", quiz.step("loss", "a")
    )
    assert {mutant["kind"] for mutant in kinds} == {"value", "other"}
    assert quiz.said(6, "loss", "a") is None
    assert quiz.said(-3, "loss", "a") == "sign"


def test_the_other_operand(js: Callable[[str], Any]) -> None:
    quiz = Quiz(PROGRAMS["TWO_PATHS"], js)
    assert quiz.asked("a", "x")["right"] == 3 * 2  # b * w
    assert quiz.said(9, "a", "x") == "other"  # b * x
    assert quiz.said(2, "a", "x") == "local"  # w


def test_a_transposed_matrix(js: Callable[[str], Any]) -> None:
    W, X = np.array([[1.0, 2.0], [4.0, -3.0]]), np.array([[0.5, 7.0], [-1.3, 2.5]])
    g = 2 * (W @ X)
    quiz = Quiz(PROGRAMS["MATRICES"], js)
    right = g @ X.T
    asked = quiz.asked("Y", "W")
    assert asked["right"] == right.flat[asked["at"]] and abs(right).max() == abs(asked["right"])
    for wrong in (X @ g.T, g @ X):  # the result transposed; the operand not transposed
        value = wrong.flat[asked["at"]]
        assert quiz.said(value, "Y", "W") == ("right" if np.isclose(value, asked["right"], rtol=0.01) else "transposed")
    assert quiz.said((X @ g.T).flat[asked["at"]] + 5, "Y", "W") is None


def test_the_sum_over_a_broadcast_axis(js: Callable[[str], Any]) -> None:
    parts = 3 * (np.array([1.0, 4.0, -0.5]) + 0.25) ** 2
    quiz = Quiz(PROGRAMS["BROADCAST"], js)
    assert quiz.asked("z", "b", "fit")["right"] == pytest.approx(parts.sum())
    for part in parts:
        assert quiz.said(f"{part:.4g}", "z", "b", "fit") == "broadcast"
    assert quiz.said(0.25, "z", "b", "fit") == "value"
    assert quiz.said(3, "z", "b", "fit") == "local"
    assert quiz.said(parts.mean() + 1, "z", "b", "fit") is None


def test_an_answer_is_named_only_if_one_mistake_gives_it(js: Callable[[str], Any]) -> None:
    """Any number that no mutant gives is left alone, and each number that one kind gives alone is named."""
    rng = np.random.default_rng(0)
    for source in (PROGRAMS["CHAIN"], PROGRAMS["TWO_PATHS"], PROGRAMS["MATRICES"], PROGRAMS["BROADCAST"]):
        quiz = Quiz(source, js)
        for step in range(1, quiz.js("timeline.count") + 1):
            asked = quiz.js("(step) => mistakes.question(step)", step)
            if asked is None:
                assert quiz.js("(step) => timeline.at(step).kind", step) == "forward"
                continue
            mutants = quiz.js("(asked) => mistakes.mutants(asked)", asked)
            answers = [*rng.normal(0, 5, 20), *[m["value"] for m in mutants if m["value"] is not None]]
            said = quiz.js(
                "([answers, asked]) => answers.map((answer) => mistakes.diagnose(answer, asked))",
                [[float(answer) for answer in answers], asked],
            )
            for answer, kind in zip(answers, said, strict=True):
                near = {m["kind"] for m in mutants if m["value"] and abs(answer - m["value"]) <= 0.01 * abs(m["value"])}
                if abs(answer - asked["right"]) <= 0.01 * abs(asked["right"]):
                    assert kind == "right"
                else:
                    assert kind is None or near == {kind} or (kind in near and answer in [m["value"] for m in mutants])


def test_what_the_page_cannot_compute_is_diagnosed_from_what_was_recorded(js: Callable[[str], Any]) -> None:
    quiz = Quiz(PROGRAMS["CHAIN"], js)
    quiz.js("graph.nodes.find(({ operation }) => operation === 'sin').operation = 'sine of my own'")
    right = quiz.asked("v", "u")["right"]
    assert quiz.said(-right, "v", "u") == "sign"
    assert quiz.said(derivative(np.sin, 2.1), "v", "u") is None
