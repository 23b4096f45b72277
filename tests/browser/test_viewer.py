"""The page of a drawing and the drawing in a notebook, in a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, draw_dot
from minigrad.engine.observers import scope
from minigrad.graph import Drawing

Show = Callable[..., Any]
NASTY = 'x</script><b id="broken">&'


class Layer:
    pass


def stack(count: int, name: str = "x") -> Drawing:
    y: Any = Tensor([1.0, 2.0], requires_grad=True, name=name)
    with mg.trace():
        for i in range(count):
            with scope(Layer(), f"layers.{i}"):
                y = np.tanh(y * 2)
        loss = y.sum()
    loss.name = "loss"
    loss.backward()
    return draw_dot(loss, rankdir="LR", max_nodes=1000)


@pytest.fixture
def page(tmp_path: Path, show: Show) -> Any:
    return show(stack(2, NASTY).to_html(tmp_path / "graph.html"))


def facts(page: Any) -> dict[str, str]:
    return dict(zip(page.locator("dt").all_text_contents(), page.locator("dd").all_text_contents()))


def test_a_click_tells_about_a_node(page: Any, screenshot: Callable[..., None]) -> None:
    assert page.title() == page.locator("h1").inner_text() == "loss"
    assert "Click a node" in page.locator("#panel").inner_text()
    page.locator("#node2").click()
    assert page.locator("#panel h2").text_content() == "y * 2 · i=0: multiply"
    shown = facts(page)
    assert shown["kind"] == "operation" and shown["shape and dtype"] == "(2,) float64" and shown["module"] == "layers.0"
    assert shown["source line"].startswith("test_viewer.py:") and "np.tanh(y * 2)" in shown["source line"]
    assert page.locator(".selected").get_attribute("id") == "node2"
    screenshot(page, "viewer")
    page.locator("#node0").click()
    assert page.locator("#panel h2").text_content() == NASTY and page.locator("#broken").count() == 0
    assert page.locator(".selected").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".selected").count() == 0


def test_a_search_finds_names_and_operations_not_source_text(tmp_path: Path, show: Show) -> None:
    x = Tensor([1.0, 2.0], requires_grad=True, name="x")
    with mg.trace():
        scaled: Any = np.log(x) * 2.0  # the label of the product says log, too
        total = (scaled + x).sum()
        total = total * 1.0  # log
    page = show(draw_dot(total).to_html(tmp_path / "graph.html"))
    page.keyboard.press("/")
    page.keyboard.type("LOG")
    assert page.locator(".found").count() == 1 and page.locator("#found").inner_text() == "1 found"
    page.keyboard.press("Enter")
    assert page.locator("#panel h2").text_content() == "np.log(x)"
    assert page.locator(".found.selected").count() == 1
    page.locator("#search").fill("x")
    page.keyboard.press("Enter")
    assert page.locator("#panel h2").text_content() == "x"
    page.locator("#search").fill("test_viewer")
    assert page.locator(".found").count() == 0 and page.locator("#found").inner_text() == "0 found"


def test_keyboard_alone(page: Any) -> None:
    page.locator("#graph").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".selected").get_attribute("id") == page.evaluate("document.activeElement.id")
    before = page.locator("#graph svg").bounding_box()["width"]
    page.keyboard.press("+")
    assert page.locator("#graph svg").bounding_box()["width"] == pytest.approx(1.25 * before, rel=0.01)
    page.keyboard.press("0")
    assert page.locator("#graph svg").bounding_box()["width"] == pytest.approx(before, rel=0.01)


def test_the_reader_switches_the_language(page: Any) -> None:
    page.locator("#node2").click()
    page.locator("#language").select_option("ja")
    assert facts(page)["種類"] == "演算" and "勾配のノルム" in page.locator("#legend").inner_text()
    assert page.locator("html").get_attribute("lang") == "ja"


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (400, 700)])
def test_a_wide_drawing_fits_and_grows_and_scrolls(tmp_path: Path, show: Show, width: int, height: int) -> None:
    page = show(stack(8).to_html(tmp_path / "graph.html"), width, height)
    box = "document.querySelector('#graph')"
    assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#larger").click()
    for _ in range(11):
        page.keyboard.press("+")
    assert page.evaluate(f"{box}.scrollWidth > 2 * {box}.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate(f"{box}.scrollLeft = {box}.scrollWidth")
    last = page.locator("#graph .loss text").first.bounding_box()
    assert last["x"] >= 0 and last["x"] + last["width"] <= width


@pytest.mark.parametrize("layers", [1, 8])
def test_a_notebook_shows_the_whole_drawing_in_a_narrow_cell(tmp_path: Path, show: Show, layers: int) -> None:
    path = tmp_path / "notebook.html"
    shown = stack(layers)._repr_html_()
    path.write_text(f'<!DOCTYPE html><meta charset="utf-8"><div id="cell" style="width: 420px">{shown}</div>', "utf-8")
    page = show(path, 500, 400)
    scroller, svg = page.locator("#cell > div"), page.locator("svg")
    view = [float(number) for number in svg.get_attribute("viewBox").split()]
    drawn, cell = svg.bounding_box(), scroller.bounding_box()
    assert drawn["width"] / drawn["height"] == pytest.approx(view[2] / view[3], rel=0.01)
    assert drawn["width"] >= 0.69 * view[2] * 4 / 3 or drawn["width"] >= cell["width"]  # readable
    reached = scroller.evaluate("box => { box.scrollLeft = 1e6; return box.scrollLeft + box.clientWidth; }")
    assert reached >= drawn["width"] - 1  # to the right edge
    assert cell["height"] >= drawn["height"]  # nothing is cut off below
    assert cell["width"] <= 420


def test_a_drawing_of_500_nodes_loads(tmp_path: Path, show: Show) -> None:
    path = stack(165).to_html(tmp_path / "graph.html")
    page = show(path)
    page.locator("#node490").wait_for()
    assert page.locator("#graph .node").count() > 490
