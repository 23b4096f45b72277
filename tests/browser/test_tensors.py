"""Arrays on the stepper's page in a real browser: a map says what NumPy has, and a nudge gives what the program gives."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, explain
from minigrad.graph.pages import tensors
from minigrad.graph.pages.html import plain
from tests.browser.stepper_programs import fan_out, node, opened
from tests.leaves import leaf

Show = Callable[..., Any]
RNG = np.random.default_rng(0)
TOKENS = ["the", "cat", "sat", "down"]


@pytest.fixture(autouse=True)
def the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test draws what it draws alone, whichever tests ran before."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(0))


def page_of(
    program: Callable[[], Any], tmp_path: Path, show: Show, width: int = 1280, height: int = 1000, **options: Any
) -> Any:
    with mg.trace(), np.errstate(all="ignore"):
        loss = program()
    return show(explain(loss, tmp_path / "page.html", check=False, **options), width, height)


def selected(page: Any, name: str) -> Any:
    """The maps of a value beside its gradient."""
    page.evaluate(f"go(timeline.count); select({node(name)})")
    return page.locator("#node-section .tensor .map")


def read(page: Any, canvas: Any, row: float, column: float) -> str:
    """What the page says of the place under the pointer, at these shares of the map's height and width.

    The mouse is moved by hand: playwright's `hover(position=)` adds the width of the border, which leaves a map of 14 pixels.
    """
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + box["width"] * column, box["y"] + box["height"] * row)
    return str(page.locator("#node-section .readout").text_content())


def entries(said: str) -> list[tuple[tuple[int, ...], float]]:
    """Each index that was said with the number after it; a second number without an index has the first one's."""
    found: list[tuple[tuple[int, ...], float]] = []
    index: tuple[int, ...] = ()
    for part in said.split(" · "):
        if place := re.match(r"\[([\d, ]+)\]", part):
            index = tuple(map(int, place[1].split(",")))
        found.append((index, float(part.split()[-1])))
    return found


@pytest.mark.sampled(6)
@pytest.mark.parametrize("size", [(10, 12), (3, 5, 8), (2, 3, 9, 7), (150, 90), (2, 3, 100, 130), (300,)])
def test_hover_says_the_entry_and_its_index(size: tuple[int, ...], tmp_path: Path, show: Show) -> None:
    x = leaf(RNG.normal(size=size), "x")
    page = page_of(lambda: (np.sin(x) * 3).sum(), tmp_path, show)
    canvas = selected(page, "x").first
    sliders = page.locator("#node-section .slice input")
    assert sliders.count() == max(0, len(size) - 2)
    lead = [min(1, n - 1) for n in size[:-2]]
    for axis, i in enumerate(lead):
        sliders.nth(axis).fill(str(i))
    want = {"x": x.data, "gradient": 3 * np.cos(x.data)}
    for row, column in [(0.001, 0.001), (0.5, 0.4), (0.9, 0.96)]:
        found = entries(read(page, canvas, row, column))
        assert len(found) == 2
        for (index, number), array in zip(found, want.values(), strict=True):
            assert list(index[:-2]) == lead
            assert number == pytest.approx(array[index], rel=1e-3)
        index = found[0][0][-2:] if len(size) > 1 else (0, *found[0][0])
        assert abs(index[0] - row * (size[-2] if len(size) > 1 else 1)) <= 3 and abs(index[1] - column * size[-1]) <= 5


def test_the_page_and_python_have_one_rule_for_maps(tmp_path: Path, show: Show) -> None:
    """The page makes the map of an array whose numbers it has; Python that of a larger one."""
    array = RNG.normal(size=(2, 131, 70))
    array[0, 3, 5], array[1, 7, 7], array[1, 50, 50] = np.nan, np.inf, -np.inf
    page = opened(fan_out, tmp_path, show)
    about: Any = tensors.array(array, 0)
    maps = page.evaluate(
        """(arrays) => arrays.map((array) => [0, 1].map((slice) => heat.map(array, { slice })))""",
        plain(
            [tensors.array(array, array.size), about | {"grid": about["grid"], "cells": about["cells"].astype(float)}]
        ),
    )
    for mine, theirs in zip(*maps, strict=True):
        assert {key: mine[key] for key in ("rows", "columns", "block", "flats")} == {
            key: theirs[key] for key in ("rows", "columns", "block", "flats")
        }
    summaries = page.evaluate(
        "(arrays) => arrays.map((array) => summaryOf(array))", plain([tensors.array(array, array.size), about])
    )
    for name, value in summaries[0].items():
        np.testing.assert_allclose(np.array(value, float), np.array(summaries[1][name], float), err_msg=name)


def test_a_map_is_read_by_keyboard_and_steps_stay(tmp_path: Path, show: Show) -> None:
    x = leaf(RNG.normal(size=(10, 10)), "x")
    page = page_of(lambda: np.sin(x).sum(), tmp_path, show)
    canvas = selected(page, "x").first
    step = page.evaluate("state.step")
    canvas.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    ((index, number), _) = entries(str(canvas.get_attribute("aria-label")))
    assert index == (2, 2) and number == pytest.approx(x.data[2, 2], rel=1e-3)
    page.keyboard.press("Enter")  # its slider moves this element
    assert page.locator(f"[data-key=index{page.evaluate(node('x'))}]").input_value() == "[2, 2]"
    assert page.evaluate("state.step") == step


# --- what is said of some operations ---


def test_a_softmax_over_the_wrong_axis_says_what_its_rows_sum_to(tmp_path: Path, show: Show) -> None:
    x = leaf(RNG.normal(size=(16, 10)), "x")

    def program() -> Any:
        p = mg.softmax(x, axis=0)
        q = mg.softmax(x)
        return (p * q).sum()

    page = page_of(program, tmp_path, show)
    selected(page, "p")
    sums = mg.softmax(x.data, axis=0).sum(axis=1)
    said = page.locator("#node-section .tensor .wrong").text_content()
    assert "over axis 0" in said and f"{sums.min():.4g}" in said and f"{sums.max():.4g}" in said
    selected(page, "q")
    assert "each row sums to 1" in page.locator("#node-section .tensor .right").text_content()


def test_a_relu_says_its_dead_share(tmp_path: Path, show: Show) -> None:
    x = leaf(RNG.normal(size=(25, 8)) + np.where(np.arange(8) < 3, -9.0, 0.0), "x")
    page = page_of(lambda: (mg.relu(x) * 2).sum(), tmp_path, show)
    page.evaluate("go(1)")
    said = page.locator("#step-section .tensor .wrong").text_content()
    assert f"{100 * np.mean(x.data <= 0):.4g} % of the elements" in said and "3 of 8 columns" in said


def test_nan_and_infinity_are_counted_and_marked(tmp_path: Path, show: Show, screenshot: Callable[..., None]) -> None:
    x = leaf(np.where(np.arange(120.0).reshape(10, 12) == 50, 0, RNG.normal(size=(10, 12))), "x")
    page = page_of(lambda: np.log(x).sum(), tmp_path, show)
    page.evaluate("go(1)")
    said = page.locator("#step-section .tensor .wrong").text_content()
    assert f"{np.sum(x.data < 0)} NaN, 1 infinite" in said
    cells = page.locator("#step-section .tensor .map").first.locator(".cell.odd").get_attribute("d")
    assert cells.count("M") == np.sum(x.data <= 0)
    screenshot(page, "tensor-nan")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (390, 844)])
def test_images_and_tokens(
    scheme: str, size: tuple[int, int], tmp_path: Path, show: Show, screenshot: Callable[..., None]
) -> None:
    images, w = RNG.uniform(size=(6, 12)), leaf(RNG.normal(size=(12, 4)), "w")

    def program() -> Any:
        h = images @ w
        weights = mg.softmax(h[:4] @ h[:4].T)
        return (weights @ h[:4]).sum()

    with mg.trace():
        loss = program()
    path = explain(loss, tmp_path / "page.html", show={"images": (3, 4), "weights": TOKENS}, check=False)
    page = show(path, *size, color_scheme=scheme)
    page.evaluate(f"select({node('images')})")
    canvas = page.locator("#node-section .tensor .map")
    page.locator("#node-section .slice input").fill("2")
    assert entries(read(page, canvas, 0.5, 0.6))[0][0] == (2, 6)  # row 1, column 2 of image 2
    level = round(255 * (images[2, 6] - images.min()) / (images.max() - images.min()))
    greys = [cell for cell in canvas.locator(".cell").all() if "M52 26h" in cell.get_attribute("d")]
    assert [cell.get_attribute("fill") for cell in greys] == [f"rgb({level} {level} {level})"]
    screenshot(page, f"tensor-image-{scheme}-{size[0]}")
    canvas = selected(page, "weights").first
    assert page.locator("#node-section .tokens.rows").first.locator("span").all_text_contents() == TOKENS
    assert "cat → down" in read(page, canvas, 0.4, 0.9)
    screenshot(page, f"tensor-tokens-{scheme}-{size[0]}")
    parts = "[...document.querySelectorAll('.tensor')]"
    assert page.evaluate(f"{parts}.every((part) => part.scrollWidth <= part.parentElement.clientWidth + 1)")


def test_a_page_says_in_both_languages_what_it_left_out(tmp_path: Path, show: Show) -> None:
    def program() -> Any:
        x: Any = leaf(RNG.normal(size=(200, 200)))
        for _ in range(120):
            x = np.tanh(x) * 1.01
        return x.sum()

    page = page_of(program, tmp_path, show)
    assert "at most 32 × 32 cells" in page.locator("#step-section").inner_text()
    page.locator("#language").select_option("ja")
    assert "32 × 32 マス" in page.locator("#step-section").inner_text()


# --- nudging ---


def neuron(w: float, x: float, by: float = 0.0) -> Any:
    """A program with a number added to its value u."""
    u = w * x + 0.1 + by
    s = np.tanh(u)
    return s * s + u * w


def told(page: Any) -> list[float]:
    """Predicted, true, gap."""
    text = page.locator("#told").inner_text()
    return [float(number) for number in re.findall(r"(-?[\d.]+(?:e-?\d+)?)$", text, re.M)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "by"), [("w", 0.3), ("x", -0.2), ("u", 0.25), ("s", -0.1)])
def test_a_nudge_is_predicted_by_the_gradient_and_is_the_program_run_again(
    name: str, by: float, tmp_path: Path, show: Show
) -> None:
    """A leaf is given another number; to an intermediate value a number is added."""
    w, x = leaf(0.5, "w"), leaf(0.8, "x")

    def program() -> Any:
        u = w * x + 0.1
        s = np.tanh(u)
        return s * s + u * w

    page = page_of(program, tmp_path, show)
    page.evaluate(f"go(timeline.count); select({node(name)})")
    page.evaluate(f"play.move({node(name)}, 0, editing.values({node(name)})[0] + {by})")
    s = np.tanh(0.5 * 0.8 + 0.1)
    at = {
        "w": lambda d: neuron(0.5 + d, 0.8), "x": lambda d: neuron(0.5, 0.8 + d), "u": lambda d: neuron(0.5, 0.8, d),
        "s": lambda d: (s + d) ** 2 + 0.5 * 0.5,
    }[name]  # fmt: skip

    def slope(d: float) -> float:
        return (at(d + 1e-6) - at(d - 1e-6)) / 2e-6

    found = told(page)
    truth = at(by) - at(0)
    expected = [slope(0) * by, truth, truth - slope(0) * by]
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-6)
    page.locator("#play-reset").click()
    assert page.locator("#told").inner_text() == ""


def mlp(x: Any, labels: Any, w1: Any, b1: Any, w2: Any) -> Any:
    return mg.cross_entropy(mg.relu(x @ w1 + b1) @ w2, labels)


def test_a_network_of_twenty_thousand_numbers_is_moved(tmp_path: Path, show: Show) -> None:
    shapes = [(64, 64), (64,), (64, 10)]
    x, labels = RNG.normal(size=(60, 64)), RNG.integers(10, size=60)
    arrays = [RNG.normal(size=shape) / 8 for shape in shapes]

    def run(arrays: list[Any]) -> tuple[Any, list[Any]]:
        leaves = [Tensor(a, requires_grad=True, name=f"p{i}") for i, a in enumerate(arrays)]
        with mg.trace():
            loss = mlp(x, labels, *leaves)
        return loss, leaves

    loss, _ = run(arrays)
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 900)
    page.wait_for_function("editing.cannot !== undefined")
    assert page.evaluate("editing.cannot") is None
    values = "original.nodes.filter(({ kind }) => kind !== 'constant').flatMap(({ values }) => values)"
    numbers = page.evaluate(f"{values}.reduce((n, {{ values }}) => n + values.length, 0)")
    assert 15_000 < numbers <= 20_000
    page.evaluate(f"go(timeline.count); play.move({node('p0')}, 70, {arrays[0].ravel()[70]} + 0.5)")
    arrays[0].ravel()[70] += 0.5
    again, leaves = run(arrays)
    again.backward()
    assert page.evaluate("play.loss()") == pytest.approx(again.item(), rel=1e-12)
    for i, tensor in enumerate(leaves):
        found = page.evaluate(f"graph.nodes[{node(f'p{i}')}].gradients[0].values")
        np.testing.assert_allclose(found, tensor.grad.numpy().ravel(), rtol=1e-9, atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("width", [820, 900, 1000, 1280])
def test_nothing_is_crushed_beside_a_slider(
    width: int, tmp_path: Path, show: Show, screenshot: Callable[..., None]
) -> None:
    hidden_weights = leaf(RNG.normal(size=(10, 12)), "hidden_weights")
    page = page_of(lambda: np.tanh(hidden_weights).sum(), tmp_path, show, width, 800)
    page.evaluate("go(timeline.count)")
    page.evaluate("play.move(0, 5, 3.25)")
    page.locator("#play-section").scroll_into_view_if_needed()
    parts = page.locator("#play-section .leaf :is(code, input, .index, .live)").evaluate_all(
        """(all) => all.map((part) => part.getBoundingClientRect())
                        .map(({ left, right, top, bottom }) => [left, right, top, bottom])"""
    )
    assert len(parts) == 6
    for i, (left, right, top, bottom) in enumerate(parts):
        assert right - left >= 12 and right <= width
        for other in parts[i + 1 :]:
            assert left >= other[1] - 1 or other[0] >= right - 1 or top >= other[3] - 1 or other[2] >= bottom - 1
    assert page.locator("#play-section input[type=range]").bounding_box()["width"] >= 60
    screenshot(page, f"play-{width}")


def test_a_row_of_zeros_is_a_map_in_its_box(tmp_path: Path, show: Show) -> None:
    """A leaf of one row has a low box, with room for its name and the map."""
    bias = leaf(np.zeros(4), "bias")
    x = RNG.normal(size=(5, 4))
    page = page_of(lambda: np.tanh(x + bias).sum(), tmp_path, show, 390, 844)
    page.evaluate("go(1)")
    number = page.evaluate(f"places.boxOf(0, 0, {node('bias')})")
    box = page.locator(f".box[data-box='{number}']")
    assert box.locator(".heat .zero").count() == 1
    assert box.locator(".value").text_content() == ""


def test_a_map_of_a_part_begins_with_the_largest_elements_and_says_what_it_shows(tmp_path: Path, show: Show) -> None:
    data = np.zeros((2, 3, 8, 8))
    data[1, 2] = RNG.normal(size=(8, 8))
    data[1, 2, 3, 4] = 9.0
    x = leaf(data, "x")
    with mg.trace():
        loss = (x * 2.0).sum()
    page = show(explain(loss, tmp_path / "page.html", check=False), 1280, 720)
    box = page.evaluate("view.boxes.find((box) => box.names[0] === 'x').called")
    assert box[:2] == ["x [1, 2] of (2, 3, 8, 8)", "x [1, 2]"]
    shown = page.evaluate("view.boxes.find((box) => box.names[0] === 'x').heats.querySelector('.heat').heat.found")
    assert (shown["rows"], shown["columns"]) == (8, 8) and max(shown["values"]) == 9
    page.evaluate("go(1)")
    assert "[1, 2]" in page.inner_text("#title-section .equation") and "at [1, 2, 3, 4]" in page.evaluate(
        "equation.text(1)"
    )
    page.evaluate("select(0)")
    assert page.locator("#node-section .slice output").all_text_contents() == [
        "1 of 2, counted from 0",
        "2 of 3, counted from 0",
    ]
