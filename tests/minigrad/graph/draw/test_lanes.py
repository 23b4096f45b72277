"""Backward passes as lanes beside the forward pass."""

import re
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import draw_dot
from minigrad.engine.observers import scope
from minigrad.graph import Drawing
from minigrad.graph.record.capture import capture
from tests.leaves import leaf
from tests.minigrad.graph.draw.test_dot import GOLDEN, labels, without_lines
from tests.minigrad.graph.draw.test_simplify import check_consistent


def cube(x: Any) -> tuple[Any, Any, Any]:
    """y = x**3 and its first and second derivative, each with its graph."""
    with mg.trace():
        y = x**3
        y.backward(create_graph=True)
        dy, x.grad = x.grad, None
        dy.backward(create_graph=True)
    y.name, dy.name, x.grad.name = "y", "dy", "ddy"
    return y, dy, x.grad


def lanes(graph: Drawing) -> dict[str, list[int]]:
    """The numbers of the nodes in each lane of the drawing."""
    drawn = graph.drawn()
    found: dict[str, list[int]] = {module.name: [] for module in drawn.modules if module.kind == "lane"}
    for node in drawn.nodes:
        module = drawn.modules[node.module] if node.module is not None else None
        while module is not None and module.parent is not None:
            module = drawn.modules[module.parent]
        if module is not None:
            found[module.name].append(node.id)
    return found


def test_the_cube_at_2_is_8_12_12() -> None:
    x = leaf(2.0, "x")
    graph = draw_dot(list(cube(x)), tensors=True)
    said = labels(graph.to_dot())
    assert "x | () float64 | data 2 | .grad 12" in said
    assert "y power | () float64 | data 8 | grad 1" in said
    assert "dy positive | () float64 | data 12 | grad 1" in said
    assert "ddy positive | () float64 | data 12 | grad -" in said
    assert without_lines(graph.to_dot()) == (GOLDEN / "lanes.dot").read_text(encoding="utf-8")


def test_each_pass_is_a_lane_and_each_operation_is_linked_to_the_one_whose_rule_it_is_part_of() -> None:
    x = leaf(2.0, "x")
    graph = draw_dot(list(cube(x)))
    assert list(lanes(graph)) == ["forward", "backward 1", "backward 2"]
    drawn = graph.drawn()
    check_consistent(drawn)
    for lane, numbers in enumerate(lanes(graph).values()):
        assert all(drawn.nodes[number].lane == lane for number in numbers)
    dotted = re.findall(r'n(\d+) -> n(\d+) \[id="origin\2" .*style=dotted', graph.to_dot())
    made = {int(target): int(source) for source, target in dotted}
    first: dict[int, int] = {}  # of each operation's rules in a lane
    for node in drawn.nodes:
        if node.origin is not None:
            first.setdefault(node.origin, node.id)
    assert made == {target: source for source, target in first.items()}
    for target, source in made.items():
        assert drawn.nodes[target].lane == drawn.nodes[source].lane + 1
    backward = [n for n in drawn.nodes if n.lane and n.operation not in (None, "positive")]
    assert backward and all(node.origin in first for node in backward)


def test_the_second_derivative_alone_brings_the_passes_it_came_from() -> None:
    x = leaf(2.0, "x")
    _, _, ddy = cube(x)
    assert not any(node.lane < 2 for node in capture(ddy).operations)  # 6 x does not depend on x**3
    graph = draw_dot(ddy)
    assert list(lanes(graph)) == ["forward", "backward 1", "backward 2"]
    (loss,) = [node for node in graph.nodes if node.kind == "loss"]
    assert (loss.name, loss.lane) == ("ddy", 2)


def test_a_pass_that_was_not_recorded_is_no_lane() -> None:
    x = leaf(2.0, "x")
    with mg.trace():
        y = x**3
    y.backward()
    assert lanes(draw_dot(y)) == {} and "origin" not in draw_dot(y).to_dot()


def test_a_gradient_penalty_is_a_graph_of_two_lanes_whose_numbers_are_those_of_grad() -> None:
    x = leaf([0.5, 1.0], "x")
    with mg.trace():
        y = np.sin(x).sum()
        y.backward(create_graph=True)
        slope, x.grad = x.grad, None
        assert slope is not None
        penalty: Any = (slope**2).sum()
    penalty.backward(retain_graph=True)
    graph = draw_dot([penalty, y])
    assert list(lanes(graph)) == ["forward", "backward 1"]
    np.testing.assert_allclose(graph.nodes[0].cotangent, -np.sin(2 * x.data), rtol=1e-12)
    np.testing.assert_array_equal(graph.nodes[0].cotangent, x.grad.data)


def test_layers_are_the_same_boxes_in_each_lane() -> None:
    class Layer:
        pass

    x, layer = leaf(2.0, "x"), Layer()
    with mg.trace():
        with scope(layer, "layer"):
            y = np.exp(np.sin(x))
        y.backward(create_graph=True)
    graph = draw_dot([y, x.grad])
    titles = re.findall(r'id="module\d+" class="module" label=<(.*?)> tooltip', graph.to_dot())
    assert titles == ["forward", "layer: Layer", "backward 1", "layer: Layer"]
    graph.depth = 0
    drawn = graph.drawn()
    boxes = [node for node in drawn.nodes if node.operation == "Layer"]
    assert [node.lane for node in boxes] == [0, 1]
    assert boxes[1].origin == boxes[0].id
    check_consistent(drawn)


def test_a_leaf_that_is_gone_shows_no_sum_of_several_sweeps() -> None:
    y, dy, ddy = cube(leaf(2.0))
    graph = draw_dot([y, dy, ddy], tensors=True)
    assert graph.nodes[0].cotangent is None and "data 2 | grad -" in labels(graph.to_dot())[0]


@pytest.mark.parametrize(("rankdir", "axis"), [("LR", 1), ("TB", 0)])
def test_the_lanes_lie_below_each_other_or_side_by_side(rankdir: str, axis: int) -> None:
    x = leaf(2.0, "x")
    svg = draw_dot(list(cube(x)), rankdir=rankdir).to_svg()
    places = []
    for number in range(3):
        (path,) = re.findall(rf'id="module{number}".*? d="([^"]*)"', svg, re.DOTALL)
        along = [float(point.split(",")[axis]) for point in re.findall(r"[-.\d]+,[-.\d]+", path)]
        places += [min(along), max(along)]
    assert places == sorted(places) and len(set(places)) == 6
