"""The script that draws the pictures of the views."""

from pathlib import Path

import numpy as np

import minigrad as mg
from make_view_pictures import GRAPHS, IMAGES, orders, wrong_edges
from tests.examples.processes import command


def test_a_quick_run_draws_the_graph_of_the_lesson(tmp_path: Path) -> None:
    done = command("make_view_pictures.py", "--quick", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["lesson_graph.svg"]


def test_the_pictures_are_there() -> None:
    assert {f"{name}.svg" for name in GRAPHS} | {"stepper.png"} <= {path.name for path in IMAGES.iterdir()}


def test_the_wrong_rule_is_the_one_that_is_planted() -> None:
    graph = wrong_edges()
    (wrong,) = mg.wrong_edges(graph)
    assert graph.nodes[wrong.target].operation == "wrong_cube"


def test_the_orders_are_a_lane_each() -> None:
    graph = orders()
    named = {node.name: (node.lane, node.value) for node in graph.operations() if node.name}
    assert {name: lane for name, (lane, _) in named.items()} == {"y": 0, "y'": 1, "y''": 2}
    np.testing.assert_allclose([named[name][1] for name in ("y", "y'", "y''")], [8, 12, 12], rtol=1e-15)
