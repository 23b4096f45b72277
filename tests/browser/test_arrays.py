"""Arrays in the line of the formula: what lights is what the element was computed from. Signs have colours of their own."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from benchmarks import looks
from minigrad import explain
from minigrad.graph.pages.html import asset
from tests.leaves import leaf

Show = Callable[..., Any]
X = np.array([[5.0, 3.5], [4.9, 0.0], [7.0, 3.2], [6.4, -3.2], [6.3, 3.3], [5.8, 2.7]])
SLICE = """([node, kind]) => {
  const k = depends[kind](node);
  return k === null ? null : heat.sliceText(graph.nodes[node].values[0], k);
}"""
LIT = "(name) => depends.of(state.step).lit(name)"


def softmax_regression() -> Any:
    w, b = leaf([[0.1, -0.2, 0.1], [0.3, 0.0, -0.3]], "w"), leaf([0.1, 0.2, 0.3], "b")
    scores = X @ w + b
    p = mg.softmax(scores)
    picked = p[np.arange(6), np.array([0, 0, 1, 1, 2, 2])]
    return -np.log(picked).mean()


@pytest.fixture
def page(tmp_path: Path, show: Show) -> Any:
    with mg.trace():
        loss = softmax_regression()
    return show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)


def at(page: Any, step: str, cell: tuple[int, ...]) -> str:
    """Go to the step whose equation begins so, choose an element of the answer, and give what is said of it."""
    number = page.evaluate(
        "(begin) => timeline.steps.findIndex((_, i) => equation.text(i + 1).startsWith(begin)) + 1", step
    )
    assert number > 0
    page.evaluate(f"go({number})")
    shape = page.evaluate("depends.of(state.step).answer.shape")
    page.evaluate(f"chooseCell({int(np.ravel_multi_index(cell, shape))})")
    return str(page.evaluate("equation.text(state.step)")).partition("; ")[2]


def lit(page: Any, name: str, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    flats = page.evaluate(LIT, name)
    return [tuple(map(int, np.unravel_index(flat, shape))) for flat in flats]


def test_an_element_of_a_product_lights_its_row_and_its_column_even_where_they_are_zero(page: Any) -> None:
    assert at(page, "X @ w = ", (1, 2)) == "at [1, 2] [[4.9 0]] @ [[ 0.1] [-0.3]] = 0.49"
    assert lit(page, "x", (6, 2)) == [(1, 0), (1, 1)]
    assert lit(page, "y", (2, 3)) == [(0, 2), (1, 2)]


def test_backward_it_lights_two_columns(page: Any) -> None:
    assert at(page, "∂loss/∂w += ", (1, 0)).startswith("at [1, 0] ")
    assert lit(page, "x", (6, 2)) == [(i, 1) for i in range(6)]
    assert lit(page, "g", (6, 3)) == [(i, 0) for i in range(6)]
    assert lit(page, "y", (2, 3)) == []


def test_a_softmax_shows_its_row_and_an_index_what_it_picks(page: Any) -> None:
    assert at(page, "p = softmax", (2, 1)).startswith("at [2, 1] softmax([")
    assert lit(page, "x", (6, 3)) == [(2, 0), (2, 1), (2, 2)]
    said = at(page, "picked = getitem", (3,))
    assert lit(page, "x", (6, 3)) == [(3, 1)] and "getitem(" in said


def test_a_sum_has_its_plus_signs_and_a_sign_that_is_only_read_no_line(tmp_path: Path, show: Show) -> None:
    """Whether an element is a sum is tried with other numbers: 0 and 5 add up to their maximum."""
    x = leaf([[0.0, 5.0], [-2.0, 3.0]], "x")
    with mg.trace():
        total = np.sum(x, axis=1)
        most = np.max(x, axis=1)
        turned = -x
        loss = (total * most * turned.sum(axis=1)).sum()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    assert at(page, "total = ", (0,)) == "at [0] 0 + 5 = 5" and at(page, "total = ", (1,)) == "at [1] -2 + 3 = 1"
    assert "max(" in at(page, "most = ", (0,))
    assert at(page, "turned = ", (1, 0)) == "at [1, 0] − (-2) = 2" and at(page, "turned = ", (1, 1)) == ""


def test_the_copies_of_a_stretched_array_are_pale(page: Any) -> None:
    assert at(page, "scores = ", (4, 1)).endswith("-1.26 + 0.2 = -1.06")
    stretched = page.locator(".equation .map").nth(1)
    assert stretched.get_attribute("aria-label") == "(6, 3)"
    assert (
        stretched.locator(".cell.copy").count() > 0
        and page.locator(".equation .map").first.locator(".copy").count() == 0
    )
    assert stretched.locator(".lit").count() == 2  # the element of the array, and its copy in row 4


def test_the_pointer_and_the_arrow_keys_choose_the_element(page: Any) -> None:
    at(page, "X @ w = ", (0, 0))
    answer = page.locator(".equation [data-key=answer]")
    box = answer.locator("svg").bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.75 * box["height"])
    assert page.evaluate("state.cell") == 13
    assert page.locator("#tip").inner_text().startswith("[4, 1] ")
    before = page.evaluate("state.step")
    page.locator(".equation [data-key=answer]").focus()
    for key in ("ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("[state.step, state.cell]") == [before, 15]
    assert page.evaluate("document.activeElement.dataset.key") == "answer"
    assert page.locator("#live").inner_text().startswith("at [5, 0] ")


def test_an_array_shows_one_slice_in_formula_box_and_panel_and_a_batch_one_example(tmp_path: Path, show: Show) -> None:
    with mg.trace():
        loss = looks.cnn()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    shown = 0
    for step in range(1, page.evaluate("timeline.count") + 1):
        page.evaluate(f"go({step})")
        nodes = page.evaluate("depends.of(state.step).nodes")
        formula = page.locator("#title-section msub > mtext:last-child").all_text_contents()
        for name, node in nodes.items():
            if name == "answer" or not page.evaluate("(name) => depends.of(state.step).lit(name)?.length > 0", name):
                continue
            index = page.evaluate(SLICE, [node, "slice"])
            if index is None:
                continue
            shown += 1
            assert index in formula, (step, name)
            boxes = page.evaluate(
                "(node) => view.boxes.filter(({ now }) => now.node === node).map((one) => one.called[0])", node
            )
            assert all(index in called for called in boxes), (step, name)
    assert shown > 5
    sizes = page.evaluate("graph.nodes.map(({ values }) => values[0].shape[0])")
    batch = [page.evaluate(SLICE, [node, "usual"]) for node, size in enumerate(sizes) if size == 2]
    assert {index[1] for index in batch if index is not None} == {"0"}


def test_a_map_in_a_formula_says_its_shape_if_it_leaves_out_cells_and_the_number_of_its_cell(
    tmp_path: Path, show: Show
) -> None:
    x = leaf(np.arange(40.0).reshape(20, 2) - 3, "x")
    with mg.trace():
        loss = (-x).sum()
    page = show(explain(loss, tmp_path / "page.html", {"x": x}, check=False), 1280, 720)
    page.evaluate("go(1)")
    assert page.locator("#title-section msub > mtext:last-child").all_text_contents() == ["(20, 2)", "(20, 2)"]
    assert page.evaluate("equation.text(1)").endswith("at [0, 0] − (-3) = 3")
    page.evaluate("chooseCell(39)")
    assert page.evaluate("equation.text(1)").endswith("at [19, 1] -36")


def test_an_operation_that_the_page_cannot_compute_lights_nothing(tmp_path: Path, show: Show) -> None:
    layer = nn.Conv2d(1, 1, 2, rng=np.random.default_rng(0))
    with mg.trace():
        loss = layer(np.ones((1, 1, 4, 4), np.float32)).sum()
    page = show(explain(loss, tmp_path / "page.html", check=False))
    page.evaluate("go(1)")
    assert page.evaluate("depends.of(1).at") is None and page.locator(".equation .lit").count() == 0
    assert page.locator("#step-section .choose").count() == 0


# What colour-blind eyes see, by the matrices of Machado, Oliveira and Fernandes (2009) for linear RGB.
EYES = {
    "all": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colour: str, eye: Any) -> Any:
    """The CIELAB coordinates of a colour as an eye sees it."""
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    t = XYZ @ np.clip(eye @ linear, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_signs_and_directions_have_four_colours_for_every_eye(eye: str, theme: int) -> None:
    text = asset("stepper.css") + asset("views.css")
    names = ("forward", "backward", "plus", "minus")
    colours = {name: re.findall(rf"--{name}: light-dark\((#\w+), (#\w+)\)", text)[0][theme] for name in names}
    for one, other in itertools.combinations(colours.values(), 2):
        assert np.linalg.norm(lab(one, EYES[eye]) - lab(other, EYES[eye])) > 20  # 2.3 is just noticeable


def test_the_first_step_explains_the_colours_with_samples_if_a_box_has_cells(tmp_path: Path, show: Show) -> None:
    with mg.trace():
        loss = softmax_regression()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    for language, above in (("en", "green is above 0"), ("ja", "緑は正")):
        page.select_option("#language", language)
        legend = page.locator("#step-section .colours")
        assert above in legend.inner_text() and "{" not in legend.inner_text()
        kinds = [".cell.plus", ".cell.minus", ".bar", ".cell.zero"]
        assert [legend.locator(f".map {kind}").count() > 0 for kind in kinds] == [True] * 4
        assert (
            legend.locator(".cell.plus").evaluate_all(
                "(all) => new Set(all.map((one) => one.getAttribute('fill-opacity'))).size"
            )
            == 2
        )
    x = leaf(2.0, "x")
    with mg.trace():
        square = x * x
    page = show(explain(square, tmp_path / "scalar.html", check=False), 1280, 720)
    assert page.locator(".colours").count() == 0


def test_a_box_whose_map_shows_a_part_of_an_array_says_its_shape(tmp_path: Path, show: Show) -> None:
    w = leaf([[0.1, -0.2, 0.1], [0.3, 0.0, -0.3]], "w")
    with mg.trace():
        long = np.ones((30, 2)) @ w
        short = np.ones((8, 2)) @ w
        loss = long.sum() + short.sum()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    names = page.locator("svg.scene .box .name").all_text_contents()
    assert "long (30, 3)" in names and "short" in names and "w" in names


def test_a_vector_and_its_worked_element_show_the_same_digits(tmp_path: Path, show: Show) -> None:
    x, y = leaf([2.01873, 1.0], "x"), leaf([3.14159, 2.0], "y")
    with mg.trace():
        loss = (x * y).sum()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    page.evaluate("go(1); chooseCell(0)")
    worked = page.locator("#title-section .element mn").all_text_contents()
    whole = page.locator("#title-section .matrix mn").all_text_contents()
    assert len(worked) == 3 and all(number in whole for number in worked) and len(worked[0]) > len("2.019")


def test_the_colours_of_a_map_stand_on_the_paper_and_pale_cells_have_a_border(tmp_path: Path, show: Show) -> None:
    w = leaf([[0.0, 0.1, -2.0], [0.2, 0.0, 2.0]], "w")
    with mg.trace():
        loss = (w * w).sum()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    page.evaluate("go(timeline.count)")
    looks = page.locator(".heat").evaluate_all("""(all) => all.map((one) => {
      const rect = (part) => part.getBoundingClientRect();
      const sheet = one.querySelector(".sheet");
      const inside = (a, b) => a.left >= b.left - 1 && a.top >= b.top - 1 && a.right <= b.right + 1 && a.bottom <= b.bottom + 1;
      return [getComputedStyle(sheet).fill,
        [...one.querySelectorAll(".cell")].every((cell) => inside(rect(cell), rect(sheet))),
        [...one.querySelectorAll(".zero, [fill-opacity='0.2']")].every((cell) => getComputedStyle(cell).stroke !== "none")];
    })""")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert len(looks) > 3 and all(look == [paper, True, True] for look in looks)
    assert page.locator(".heat .zero, .heat .weak").count() > 0


def test_no_number_of_a_box_is_cut_and_no_row_leaves_the_panel(tmp_path: Path, show: Show) -> None:
    with mg.trace():
        loss = looks.gpt_block()
    loss.backward(retain_graph=True)
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    for step in range(0, page.evaluate("timeline.count") + 1, 6):
        page.evaluate(f"go({step}); wholeProgram()")
        texts = page.locator("svg.scene .box :is(.value, .gradient, .operation)").all_text_contents()
        assert any(texts) and not any("…" in text for text in texts), texts
        blue = page.locator("svg.scene .box .value").all_text_contents()
        assert not any(text.startswith(("∂", "‖")) for text in blue), blue
        wide = page.locator("#panel pre").evaluate_all("(all) => all.map((one) => one.scrollWidth - one.clientWidth)")
        assert all(more <= 1 for more in wide), (step, wide)


def test_a_sum_of_arrays_is_written_in_lines_each_with_its_sign_and_name(tmp_path: Path, show: Show) -> None:
    w = leaf([0.1, -0.2, 0.1, 0.3, 0.5], "w")
    with mg.trace():
        loss = (w * w + np.exp(w)).sum()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    page.evaluate("go(timeline.count)")
    signs, parts = page.locator("#step-section .sum .sign"), page.locator("#step-section .sum > figure")
    assert signs.all_text_contents() == ["", "+", "="]
    assert parts.locator("figcaption").all_text_contents() == ["earlier total", "this", "new total"]
    for sign, array in zip(signs.all()[1:], parts.all()[1:]):
        before, after = sign.bounding_box(), array.bounding_box()
        assert before["x"] + before["width"] <= after["x"] and after["y"] <= before["y"] <= after["y"] + after["height"]
    tops = [part.bounding_box()["y"] for part in parts.all()]
    assert tops == sorted(tops)
