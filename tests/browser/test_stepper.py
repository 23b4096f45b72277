"""The stepper's page in a real browser: every press is one step, the numbers it ends with are those of `.grad`, and code, graph
and panel say the same of each."""

import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.registry import primitives
from tests.browser.stepper_programs import (
    PROGRAMS,
    Program,
    broadcasting,
    called,
    explained,
    fan_out,
    kinked,
    loop,
    node,
    opened,
    press,
    straight,
)
from tests.leaves import leaf
from tests.proof.programs import not_a_number, second_order, transformer  # fmt: skip

Show = Callable[..., Any]


def said(page: Any) -> str:
    """The step's equation, as a screen reader hears it."""
    return page.evaluate("equation.text(state.step)")


def picture(page: Any) -> Any:
    """All that the reader sees of a step, wherever the camera is."""
    return page.evaluate(
        """() => [".world", "#title-section", "#step-section", "#node-section", "#code-pane", "#count"]
                 .map((name) => document.querySelector(name).innerHTML.replaceAll(' class=""', ""))"""
    )


# Steps and numbers


@pytest.mark.sampled(8)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_end_is_grad(program: Program, tmp_path: Path, show: Show) -> None:
    leaves = explained(program, tmp_path / "page.html")
    page = show(tmp_path / "page.html")
    press(page, "End")
    for name, tensor in leaves.items():
        about = page.evaluate(f"timeline.gradient({node(name)}, 0, state.step)")
        grad = tensor.grad.numpy()
        if "values" in about:
            shown = np.array([float(value) for value in about["values"]]).reshape(grad.shape)
            np.testing.assert_allclose(shown, grad, rtol=1e-12)
        else:
            assert grad.size > 64 and float(about["norm"]) == pytest.approx(np.linalg.norm(grad), rel=1e-12)


def test_each_step_says_what_it_computes_in_the_programs_own_names(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    u, s = 0.5, math.tanh(0.5)
    equations = []
    for _ in range(page.evaluate("timeline.count")):
        press(page, "ArrowRight")
        equations.append(said(page))
    forward = ["w · x = 0.5 · 0.8 = 0.4", "u = w * x + b = 0.4 + 0.1 = 0.5", f"s = tanh(u) = tanh(0.5) = {s:.4g}"]
    assert equations[:3] == forward
    backward = set(equations[page.evaluate("timeline.turn") :])
    assert "∂loss/∂w += ∂loss/∂(u * w) · u = 1 · 0.5 = 0.5" in backward
    slope = 2 * s * (1 - s**2) + u
    # with four digits, 1.227 · 0.8 would be 0.9816
    assert f"∂loss/∂w += ∂loss/∂(w * x) · x = {slope:.5g} · 0.8 = {slope * 0.8:.4g}" in backward


def test_the_equation_is_typeset_and_heard(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    page.evaluate("go(timeline.turn + 4)")
    assert page.locator("#title-section math mfrac").count() >= 2
    assert said(page) in page.locator("#live").text_content()
    assert page.locator("#live").get_attribute("aria-live") == "polite"


def test_values_fill_in_forward_then_gradients_backward(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    known = "graph.nodes.filter((_, i) => timeline.known(i, state.step)).length"
    graded = "graph.nodes.filter((_, i) => timeline.gradient(i, 0, state.step) !== null).length"
    everything = page.evaluate("graph.nodes.length")
    assert page.evaluate(known) == everything and page.evaluate(graded) == 0  # the first sight shows the whole run
    assert page.locator(".box.pale").count() == 0
    for i in range(page.evaluate("timeline.turn")):
        press(page, "ArrowRight")
        assert page.evaluate(known) == 4 + i
    assert page.locator(".box.pale").count() == 0
    assert page.evaluate(graded) == 1
    press(page, "End")
    assert page.evaluate(graded) == 9
    assert page.locator(".box.has").count() == 9


def test_contributions_add_up_as_earlier_total_plus_this(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    last = page.evaluate(f"timeline.arrivals({node('w')}, 0).at(-1).step")
    page.evaluate(f"go({last})")
    first, new, total = [float(text) for text in page.locator("#step-section .sum output").all_text_contents()]
    assert first == 0.5 and first + new == pytest.approx(total, abs=1e-3)
    assert "complete" in page.locator("#step-section .note.done").text_content()
    assert f"{first:g} + {new:g} = {total:g}" in page.locator(".box.receives").text_content()


def test_back_restores_exactly(tmp_path: Path, show: Show) -> None:
    page = opened(broadcasting, tmp_path, show)
    count = page.evaluate("timeline.count")
    forth = []
    for _ in range(count):
        forth.append(picture(page))
        press(page, "ArrowRight")
    for before in reversed(forth):
        press(page, "ArrowLeft")
        assert picture(page) == before


def test_what_was_broadcast_is_folded_back_in_a_step_of_its_own(tmp_path: Path, show: Show) -> None:
    page = opened(broadcasting, tmp_path, show)
    step = page.evaluate("timeline.steps.findIndex(([kind]) => kind === 'fit') + 1")
    page.evaluate(f"go({step})")
    assert said(page).startswith("∂loss/∂b += sum over axis 0 of")
    assert "(4, 2)" in page.inner_text("#step-section") and "(2,)" in page.inner_text("#step-section")


def test_a_cell_chooses_the_element_in_the_equation(tmp_path: Path, show: Show) -> None:
    page = opened(broadcasting, tmp_path, show)
    power = "labelOf(graph.edges[edge].target).includes('** 2')"
    step = page.evaluate(f"timeline.steps.findIndex(([kind, edge]) => kind === 'product' && {power}) + 1")
    page.evaluate(f"go({step})")
    assert "; at [0, 0] " in said(page)
    cells = page.locator("#step-section .choose .map").first
    box = cells.bounding_box()
    cells.click(position={"x": box["width"] - 8, "y": box["height"] - 8})
    assert "; at [3, 1] " in said(page)
    shown = float(said(page).split(" = ")[-1])
    assert shown == pytest.approx(page.evaluate("graph.edges[timeline.at(state.step).edge].raw.values[7]"), rel=1e-3)


# Code beside graph


def test_code_and_graph_light_each_other(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    page.evaluate("go(4)")  # s * s
    assert "".join(page.locator("#code-pane .active").all_text_contents()) == "s * s"
    page.locator("#code-pane [data-span]", has_text="np.tanh(").first.hover()
    assert page.locator(".box.hover .name").text_content() == "s"
    page.locator(".box", has_text="u * w").first.hover()
    assert "".join(page.locator("#code-pane .hover").all_text_contents()) == "u * w"
    page.locator("#code-pane [data-span]", has_text="np.tanh(").first.click()
    assert page.locator("#node-section h2").text_content().startswith("s ")


def test_a_step_in_a_called_function_shows_that_functions_lines(tmp_path: Path, show: Show) -> None:
    page = opened(called, tmp_path, show)
    press(page, "ArrowRight")
    assert page.locator("#code-pane .line.now code").text_content().strip() == "return v * v"
    press(page, "ArrowRight", 2)
    assert "square(a) + square(b)" in page.locator("#code-pane .line.now code").text_content()


def test_a_docstring_is_its_first_line(tmp_path: Path, show: Show) -> None:
    def described(v: Any) -> Any:
        """Return the square.

        Nothing of this is shown.
        """
        return v * v

    with mg.trace():
        y = described(leaf(3.0, "x"))
    page = show(mg.explain(y, tmp_path / "page.html"), 1280, 720)
    shown = [text.strip() for text in page.locator("#code-pane .file").first.locator("code").all_text_contents()]
    first = shown.index("def described(v: Any) -> Any:")
    assert shown[first + 1 : first + 3] == ['"""Return the square. …', "return v * v"]
    press(page, "ArrowRight")
    assert page.locator("#code-pane .line.now code").text_content().strip() == "return v * v"


def test_a_value_used_twice_by_one_operation_is_told_operand_by_operand(tmp_path: Path, show: Show) -> None:
    page = opened(called, tmp_path, show)
    for arrival in page.evaluate(f"timeline.arrivals({node('b')}, 0)"):
        page.evaluate(f"go({arrival['step']})")
        assert "more than once" in page.locator("#step-section p").first.text_content()


# Scenes


def test_a_loop_shows_one_iteration_and_has_a_slider(tmp_path: Path, show: Show) -> None:
    page = opened(loop, tmp_path, show)
    page.evaluate(f"go(timeline.computed[{node('h · i=16')}])")
    assert "17 of 200" in page.locator("#path").text_content()
    names = page.locator("svg.scene .name").all_text_contents()
    assert "h · i=16" in names and "h · i=15" in names
    page.locator("#iteration").fill("101")
    assert "h · i=100" in page.locator("svg.scene .name").all_text_contents()
    assert page.evaluate("state.step") == page.evaluate(f"timeline.computed[{node('h · i=16')}]")  # looking is no step
    press(page, "Escape")
    page.locator("#next").click()
    assert "h · i=16" in page.locator("svg.scene .name").all_text_contents()


def test_only_one_scene_is_in_the_document_and_steps_change_little(tmp_path: Path, show: Show) -> None:
    page = opened(straight, tmp_path, show)
    assert page.evaluate("graph.nodes.length") > 500
    assert page.locator("svg.scene .box").count() < 120
    page.evaluate(
        "go(timeline.turn + 10); window.kept = document.querySelector('.box'); window.scene = state.scene; go(state.step + 1)"
    )
    assert page.evaluate("state.scene !== window.scene || window.kept.isConnected")


def test_modules_open_by_click_and_the_path_leads_out(tmp_path: Path, show: Show) -> None:
    page = opened(transformer, tmp_path, show)
    page.evaluate("enter(0, 0)")
    page.locator("#fit").click()
    page.locator(".box.opens").first.click()
    assert page.locator("#path button").count() == 2
    page.locator("#path button").first.click()
    assert page.locator("#path button").count() == 1
    page.locator(".box.opens").first.focus()
    press(page, "Enter")
    assert page.locator("#path button").count() == 2


# Truth


@pytest.fixture
def wrong_tanh() -> Iterator[None]:
    primitive = primitives["tanh"]
    plans, rules = primitive._plans, primitive.rules
    right = rules["x"]
    primitive._plans, primitive.rules = {}, rules | {"x": lambda g, ans: 1.01 * right(g, ans)}
    yield
    primitive._plans, primitive.rules = plans, rules


def test_each_product_is_checked(tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    for step in range(page.evaluate("timeline.turn") + 1, page.evaluate("timeline.count") + 1):
        page.evaluate(f"go({step})")
        assert page.locator(".badge.agrees").count() == 1
        analytic, numeric = [float(text) for text in page.locator(".truth td").all_text_contents()]
        assert analytic == pytest.approx(numeric, rel=1e-6)


def test_what_differences_cannot_tell_is_said_and_why(tmp_path: Path, show: Show) -> None:
    page = opened(kinked, tmp_path, show)
    page.evaluate("go(timeline.count)")
    while page.locator(".badge.unclear").count() == 0:
        page.evaluate("go(state.step - 1)")
    assert page.locator(".truth.unclear").count() == 1 and page.locator(".edge.wrong-rule").count() == 0
    text = page.locator(".truth").text_content()
    assert "cannot tell" in text and "kink" in text


def test_a_wrong_rule_is_red_on_exactly_its_step(wrong_tanh: None, tmp_path: Path, show: Show) -> None:
    page = opened(fan_out, tmp_path, show)
    assert "1 of 11" in page.locator("#step-section .verdict").text_content()
    wrong = []
    for step in range(page.evaluate("timeline.count") + 1):
        page.evaluate(f"go({step})")
        if page.locator(".badge.wrong").count() > 0:
            wrong.append(page.evaluate("graph.nodes[timeline.at(state.step).target].operation"))
            assert page.locator(".edge.wrong-rule").count() == 1
    assert wrong == ["tanh"]


def test_a_rule_that_makes_a_nan_of_a_finite_gradient_is_the_culprit(tmp_path: Path, show: Show) -> None:
    def trap() -> tuple[Any, dict[str, Any]]:
        x = leaf([0.0, 4.0])
        with mg.trace(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loss = np.where(x.data > 0, np.sqrt(x), 0.0).sum()
        return loss, {"x": x}

    page = opened(trap, tmp_path, show)
    page.get_by_role("button", name="Jump to the culprit").first.click()
    assert page.evaluate("[timeline.at(state.step).source, timeline.at(state.step).target].map(labelOf)") == [
        "x",
        "np.sqrt(x)",
    ]
    assert page.locator(".box.culprit .name").all_text_contents() == ["np.sqrt(x)"]
    assert page.locator(".box.victim .name").all_text_contents() == ["x"]
    assert "0 · ∞" in page.locator("#step-section .trouble.culprit").text_content()
    assert page.locator(".trouble.victim").count() == 0


def test_the_jump_to_a_culprit_that_no_step_made_selects_it(tmp_path: Path, show: Show) -> None:
    w = leaf([1.0, np.nan], "w")
    with mg.trace(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loss = (np.tanh(leaf([1.0, 2.0], "x")) * w).sum()
    loss.backward()
    page = show(mg.explain(loss, tmp_path / "page.html", step=37))
    assert "step 37" in page.locator("#step-section .training-step").text_content()
    assert "already held a NaN" in page.locator("#step-section .trouble.culprit").text_content()
    for step in (0, page.evaluate("timeline.turn")):
        page.evaluate(f"go({step})")
        assert page.evaluate("labelOf(state.selected)") != "w"
        page.get_by_role("button", name="Jump to the culprit").first.click()
        assert page.evaluate("labelOf(state.selected)") == "w" and page.evaluate("state.step") == step
        assert page.locator(".box.selected .name").all_text_contents() == ["w"]
        assert page.locator(".box.culprit .name").all_text_contents() == ["w"]


def test_the_first_nan_is_apart_from_its_victims(tmp_path: Path, show: Show) -> None:
    page = opened(not_a_number, tmp_path, show)
    page.get_by_role("button", name="Jump to the culprit").first.click()
    assert page.locator(".box.culprit .name").all_text_contents() == ["r"]
    assert "square root" in page.locator(".trouble.culprit").text_content()
    assert page.locator(".box.victim").count() == 0  # they come after it
    page.evaluate("go(timeline.turn)")
    assert sorted(page.locator(".box.victim .name").all_text_contents()) == ["loss", "r * x"]
    page.get_by_role("button", name="Jump to the culprit").first.click()
    assert page.evaluate("labelOf(timeline.at(state.step).target)") == "r"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", [fan_out, second_order, straight], ids=lambda program: program.__name__)
def test_the_shown_numbers_of_a_line_give_its_result(program: Program, tmp_path: Path, show: Show) -> None:
    """Python computes each line of scalars from the digits that the reader sees."""
    page = opened(program, tmp_path, show)
    lines = page.evaluate("Array.from({ length: timeline.count }, (_, i) => equation.text(i + 1))")
    found = 0
    for line in lines:
        *_, shown, answer = [part.strip() for part in line.split(" = ")]
        text = shown.replace("·", "*").replace("−", "-").replace("^", "**").replace("arctan", "atan")
        try:
            value = eval(text, {name: getattr(math, name) for name in ("sin", "cos", "tanh", "atan", "exp", "sqrt")})
            expected = float(answer)
        except (NameError, SyntaxError, ValueError):
            continue  # names, arrays or words
        found += 1
        assert float(f"{value:.4g}") == expected, line
    assert found > 10


def test_brackets_are_as_high_as_their_matrix(tmp_path: Path, show: Show) -> None:
    M = leaf([[1.0], [2.0], [3.0], [4.0]], "M")
    with mg.trace():
        loss = (M * 2.5).sum()
    mg.explain(loss, tmp_path / "page.html")
    page = show(tmp_path / "page.html")
    page.evaluate("go(1)")
    for matrix in page.locator(".equation .matrix").all():
        style = (
            "(one) => [getComputedStyle(one).borderLeftWidth, getComputedStyle(one).borderRightWidth].map(parseFloat)"
        )
        assert min(matrix.evaluate(style)) > 0.5
        numbers = matrix.locator("mn").all()
        assert len(numbers) == 4
        top, bottom = numbers[0].bounding_box()["y"], numbers[-1].bounding_box()["y"]
        assert matrix.bounding_box()["y"] <= top and matrix.bounding_box()["height"] >= bottom - top


def test_the_small_print_has_each_rule_with_its_own_names(tmp_path: Path, show: Show) -> None:
    w, x = leaf([[0.5, 1.0]], "w"), leaf([[2.0], [3.0]], "x")
    with mg.trace():
        loss = np.sum(np.tanh(w @ x))
    mg.explain(loss, tmp_path / "page.html")
    page = show(tmp_path / "page.html")
    rules = (
        "timeline.steps.map((_, i) => { go(i + 1); return find('small-section').querySelector('code')?.textContent; })"
    )
    assert [rule for rule in page.evaluate(rules) if rule] == [
        "d sum: g, broadcast over the summed axes", "d tanh: g · (1 − y^2)", "d matmul/d x: g @ yᵀ", "d matmul/d y: xᵀ @ g",
    ]  # fmt: skip
