"""A drawing as a file and in a notebook, in a real browser."""

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


def test_a_browser_shows_the_svg_and_a_hostile_name_is_text(
    tmp_path: Path, show: Show, screenshot: Callable[..., None]
) -> None:
    page = show(stack(2, NASTY).render(tmp_path / "graph.svg"))
    assert page.locator("#broken").count() == 0
    assert page.locator("#node0 > title").text_content() == f"input {NASTY}"
    box = page.locator(".loss text").first.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 1400
    screenshot(page, "drawing")


@pytest.mark.sampled(2)
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
    page = show(stack(165).render(tmp_path / "graph.svg"))
    page.locator("#node490").wait_for()
    assert page.locator(".node").count() > 490
