"""The script that draws the pictures of the views."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
from make_view_pictures import BROWSERS, CLOCK, GRAPHS, IMAGES, SIZE, film, opened, orders, readme, wrong_edges
from minigrad.graph.pages.html import asset
from tests.examples.processes import command


def test_a_quick_run_draws_the_graph_of_the_lesson(tmp_path: Path) -> None:
    done = command("make_view_pictures.py", "--quick", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["lesson_graph.svg"]


@pytest.mark.thorough
def test_a_film_keeps_the_colours_of_the_page_however_small_their_areas_are(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("playwright")
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser")
    with opened(readme()) as page:
        page.evaluate("toggleProjector()")
        page.evaluate(CLOCK)
        film(tmp_path / "film.gif", page, [("0", 0.1), ("go(timeline.count - 3)", 0.2)])
    with image.open(tmp_path / "film.gif") as shot:
        shot.seek(shot.n_frames - 1)
        colours = {colour for _, colour in shot.convert("RGB").getcolors(SIZE["width"] * SIZE["height"])}
    style = asset("stepper.css")
    for name in ("forward", "backward"):
        found = re.search(rf"--{name}: light-dark\(#(..)(..)(..)", style)
        assert found is not None and tuple(int(part, 16) for part in found.groups()) in colours, name


def test_the_pictures_are_there() -> None:
    assert {f"{name}.svg" for name in GRAPHS} | {"stepper.png"} <= {path.name for path in IMAGES.iterdir()}


def test_the_wrong_rule_is_the_one_that_is_planted() -> None:
    graph = wrong_edges()
    (wrong,) = mg.wrong_edges(graph)
    assert graph.nodes[wrong.target].operation == "wrong_cube"


def test_the_orders_are_a_lane_each() -> None:
    graph = orders()
    named = {node.name: (node.lane, node.value) for node in graph.operations if node.name}
    assert {name: lane for name, (lane, _) in named.items()} == {"y": 0, "y'": 1, "y''": 2}
    np.testing.assert_allclose([named[name][1] for name in ("y", "y'", "y''")], [8, 12, 12], rtol=1e-15)
