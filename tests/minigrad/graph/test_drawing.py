"""A `Drawing`: a `Graph` that shows itself; whatever gives users a graph gives one."""

from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, draw_dot
from minigrad.graph import Drawing, Graph
from minigrad.graph.draw.simplify import collapse, fold
from minigrad.graph.record.capture import capture

HOW: dict[str, Any] = {"rankdir": "TB", "depth": 0, "max_nodes": 7, "tensors": True}


def cubed() -> Tensor:
    x = Tensor(0.0, requires_grad=True, name="x")
    with np.errstate(all="ignore"), mg.trace():
        y: Any = np.log(x * x * x)
    return y


def test_whatever_gives_users_a_graph_gives_a_drawing() -> None:
    y = cubed()
    found = mg.find_nan(y)
    assert found is not None
    for graph in (
        draw_dot(y),
        mg.check_edges(y),
        found.graph,
    ):
        assert isinstance(graph, Graph) and type(graph) is Drawing
        assert repr(graph) == repr(capture(y)) and graph.to_dot().startswith("digraph") and graph.to_text()


def test_a_smaller_graph_of_a_drawing_is_drawn_in_the_same_way() -> None:
    drawing = draw_dot(cubed(), **HOW)
    for smaller in (drawing.drawn(), fold(drawing), collapse(drawing, 0)):
        assert {name: getattr(smaller, name) for name in HOW} == HOW


def test_a_drawing_has_the_facts_of_its_graph_and_what_a_view_says_beside_them() -> None:
    graph = capture(cubed())
    drawing = Drawing.of(graph, {1: {"culprit": "made it"}}, {graph.edges[0]: {"verdict": "wrong"}}, max_nodes=3)
    pairs: list[tuple[Any, Any]] = [*zip(drawing.nodes, graph.nodes, strict=True)]
    pairs += zip(drawing.edges, graph.edges, strict=True)
    for drawn, recorded in pairs:
        assert all(getattr(drawn, each.name) is getattr(recorded, each.name) for each in fields(recorded) if each.init)
    assert [node.culprit for node in drawing.nodes] == ["", "made it", *[""] * (len(graph.nodes) - 2)]
    assert [edge.verdict for edge in drawing.edges] == ["wrong", *[None] * (len(graph.edges) - 1)]
    assert drawing.ends == graph.ends and drawing.max_nodes == 3


def test_the_records_of_a_graph_and_of_a_drawing_do_not_change() -> None:
    graph = capture(cubed())
    drawing = draw_dot(cubed())
    records: list[Any] = [graph.nodes[0], graph.edges[0], drawing.nodes[0], drawing.edges[0]]
    for record in records:
        for each in fields(record):
            with pytest.raises(FrozenInstanceError):
                setattr(record, each.name, None)
