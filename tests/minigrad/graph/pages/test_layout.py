"""The layout of scenes: what every one keeps to, on random graphs, and how it compares with Graphviz."""

from __future__ import annotations

import random
from itertools import combinations, pairwise

import numpy as np
import pytest

import minigrad as mg
from minigrad.graph.draw.labels import text_width
from minigrad.graph.pages.layout import (
    GAP,
    Laid,
    Point,
    crossings,
    layouts,
    put_on_layers,
    swap_on,
    uncross,
)
from models import ClassifierConfig, TransformerClassifier, TwoLayerConfig, TwoLayerTransformer

Sizes = list[tuple[float, float]]
Lines = list[tuple[int, int]]
NEAR = 0.02  # coordinates have two decimals


def random_graph(seed: int) -> tuple[Sizes, Lines]:
    """Boxes of all sizes; lines that are long and short, and doubled."""
    rng = random.Random(seed)
    count = rng.randint(1, 40)
    sizes = [(rng.uniform(10, 150), rng.uniform(10, 60)) for _ in range(count)]
    lines = [(rng.randrange(max(0, i - 4), i), i) for i in range(1, count) if rng.random() < 0.9]
    pairs = (sorted(rng.choices(range(count), k=2)) for _ in range(rng.randint(0, count // 2)))
    lines += [(a, b) for a, b in pairs if a != b]
    lines += rng.sample(lines, len(lines) // 8)
    return sizes, lines


def lay_out(sizes: Sizes, lines: Lines) -> Laid:
    """The layout in one column, whose lines lead from top to bottom."""
    return layouts(sizes, lines, 1)[0]


def segments(route: list[Point]) -> list[tuple[Point, Point]]:
    return list(pairwise(route))


def inside(segment: tuple[Point, Point], centre: Point, size: tuple[float, float]) -> bool:
    """Whether a segment comes into a box, by clipping it at the four sides (Liang and Barsky)."""
    (x0, y0), (x1, y1) = segment
    start, end = 0.0, 1.0
    for position, step, middle, half in ((x0, x1 - x0, centre[0], size[0] / 2), (y0, y1 - y0, centre[1], size[1] / 2)):
        low, high = middle - half + NEAR, middle + half - NEAR
        if abs(step) < NEAR:
            if not low < position < high:
                return False
            continue
        a, b = sorted(((low - position) / step, (high - position) / step))
        start, end = max(start, a), min(end, b)
    return start < end


@pytest.mark.parametrize("seed", range(60))
def test_boxes_do_not_overlap_and_lines_do_not_pass_below_them(seed: int) -> None:
    sizes, lines = random_graph(seed)
    laid = lay_out(sizes, lines)
    boxes = list(zip(laid.centres, sizes))
    for ((x, y), (w, h)), ((u, v), (width, height)) in combinations(boxes, 2):
        assert abs(x - u) >= (w + width) / 2 + GAP[0] / 2 - NEAR or abs(y - v) >= (h + height) / 2 + GAP[0] / 2 - NEAR
    for (x, y), (w, h) in boxes:
        assert w / 2 - NEAR <= x <= laid.width - w / 2 + NEAR and h / 2 - NEAR <= y <= laid.height - h / 2 + NEAR
    for route in laid.routes:
        assert all(0 <= x <= laid.width + NEAR and 0 <= y <= laid.height + NEAR for x, y in route)
        assert not [(s, box) for s in segments(route) for box in boxes if inside(s, *box)]


@pytest.mark.parametrize("seed", range(30))
def test_lines_lead_from_the_border_of_one_box_to_that_of_the_other(seed: int) -> None:
    sizes, lines = random_graph(seed)
    laid = lay_out(sizes, lines)
    for (a, b), route in zip(lines, laid.routes):
        for box, (x, y) in ((a, route[0]), (b, route[-1])):
            (cx, cy), (width, height) = laid.centres[box], sizes[box]
            assert abs(x - cx) <= width / 2 + NEAR and abs(y - cy) <= height / 2 + NEAR
            assert abs(abs(y - cy) - height / 2) < NEAR  # on its upper or lower side


@pytest.mark.parametrize("seed", range(30))
def test_all_lines_point_down(seed: int) -> None:
    sizes, lines = random_graph(seed)
    for route in lay_out(sizes, lines).routes:
        heights = [y for _, y in route]
        assert heights == sorted(heights) and heights[0] < heights[-1]


def test_lines_of_the_second_layout_point_right() -> None:
    sizes, lines = random_graph(4)
    down, right = layouts(sizes, lines, 1)
    assert all(route[0][1] < route[-1][1] for route in down.routes)
    for (a, b), route in zip(lines, right.routes):
        assert route[0][0] == pytest.approx(right.centres[a][0] + sizes[a][0] / 2, abs=NEAR)
        assert route[-1][0] == pytest.approx(right.centres[b][0] - sizes[b][0] / 2, abs=NEAR)
        assert route[0][0] < route[-1][0]
    edge = max(x + width / 2 for (x, _), (width, _) in zip(right.centres, sizes))
    assert right.width == pytest.approx(edge)


def test_the_same_graph_gives_the_same_drawing() -> None:
    assert lay_out(*random_graph(3)) == lay_out(*random_graph(3))


def test_empty_and_single() -> None:
    assert lay_out([], []) == Laid(0.0, 0.0, [], [])
    assert lay_out([(30, 10)], []) == Laid(30.0, 10.0, [(15.0, 5.0)], [])


def test_parts_without_a_line_between_them_stand_side_by_side() -> None:
    laid = lay_out([(20, 20)] * 4, [(0, 1), (2, 3)])
    assert laid.centres[0][1] == laid.centres[2][1] and laid.centres[0][0] < laid.centres[2][0]
    many = lay_out([(100, 20)] * 100, [])
    assert many.width < 3 * many.height * 2


def test_a_chain_is_a_straight_line() -> None:
    laid = lay_out([(20 + 10 * i, 20) for i in range(6)], [(i, i + 1) for i in range(5)])
    assert len({round(x, 6) for x, _ in laid.centres}) == 1
    assert all(len(route) == 2 for route in laid.routes)


def test_long_lines_are_straight_between_their_ends() -> None:
    """A line past a chain bends only where it leaves and where it comes in."""
    laid = lay_out([(40, 20)] * 8, [(i, i + 1) for i in range(7)] + [(0, 7)])
    assert len({round(x, 6) for x, _ in laid.routes[-1][1:-1]} - {round(laid.routes[-1][-1][0], 6)}) <= 2


def test_lines_between_the_same_boxes_are_apart() -> None:
    first, second = lay_out([(60, 20)] * 2, [(0, 1), (0, 1)]).routes
    assert first[0] != second[0] and first[-1] != second[-1]


def test_the_crossing_of_two_lines_is_undone() -> None:
    layers = put_on_layers(4, [(0, 3), (1, 2), (0, 2), (1, 3)])
    assert uncross(layers) == 1  # of a complete bipartite graph one crossing is the least
    layers = put_on_layers(6, [(0, 5), (1, 4), (2, 3)])
    assert uncross(layers) == 0
    assert crossings(layers, layers.places()) == 0


@pytest.mark.parametrize("seed", range(20))
def test_two_neighbours_are_swapped_only_if_fewer_lines_cross_then(seed: int) -> None:
    sizes, lines = random_graph(seed)
    found = put_on_layers(len(sizes), lines)
    place, swaps = found.places(), 0
    for layer in found.layers * 3:
        before = crossings(found, place)
        swapped = swap_on(layer, found, place)
        assert crossings(found, place) < before if swapped else crossings(found, place) == before
        assert place == found.places()
        swaps += swapped
    assert swaps or crossings(found, place) < 4


def test_values_stand_just_above_what_reads_them() -> None:
    """A chain of three, and a parameter with its transpose, which only the last of the chain reads."""
    laid = lay_out([(20, 20)] * 5, [(0, 1), (1, 2), (3, 4), (4, 2)])
    assert laid.centres[4][1] == laid.centres[1][1] and laid.centres[3][1] == laid.centres[0][1]


def example_graphs() -> dict[str, mg.graph.Graph]:
    """Small and large programs, as plain graphs."""
    rng = np.random.default_rng(0)
    w = mg.Tensor(1.5, requires_grad=True, name="w")
    b = mg.Tensor(-0.5, requires_grad=True, name="b")
    y = (w * ((w * 0.8 + b).tanh()) + b).tanh()
    recurrent = mg.Tensor(0.0)
    for _ in range(12):
        recurrent = (w * recurrent + b).tanh()
    two = TwoLayerTransformer(TwoLayerConfig(4, 5, 2), rng=rng)
    classifier = TransformerClassifier(ClassifierConfig(vocab_size=50, num_classes=4), rng=rng)
    with mg.trace():
        two_loss = two.loss(rng.standard_normal((3, 6, 4)), np.eye(2)[[0, 1, 1]])
        logits = classifier(rng.integers(0, 50, size=(2, 9))).sum()
    return {
        "lesson": mg.draw_dot(y * y),
        "recurrence": mg.draw_dot(recurrent),
        "two_layer": mg.draw_dot(two_loss, two),
        "classifier": mg.draw_dot(logits, classifier),
    }


def crossing_lines(lines: Lines, routes: list[list[Point]]) -> int:
    """Pairs of lines without a common box that cross, in a finished drawing."""

    def side(a: Point, b: Point, c: Point) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def cross(s: tuple[Point, Point], t: tuple[Point, Point]) -> bool:
        if max(s[0][1], s[1][1]) < min(t[0][1], t[1][1]) or max(t[0][1], t[1][1]) < min(s[0][1], s[1][1]):
            return False
        return side(*s, t[0]) * side(*s, t[1]) < 0 and side(*t, s[0]) * side(*t, s[1]) < 0

    count = 0
    for a, b in combinations(range(len(lines)), 2):
        if not set(lines[a]) & set(lines[b]):
            count += any(cross(s, t) for s in segments(routes[a]) for t in segments(routes[b]))
    return count


def by_dot(sizes: Sizes, lines: Lines) -> tuple[float, int]:
    """The width of Graphviz' drawing of the same boxes, and its crossings."""
    pygraphviz = pytest.importorskip("pygraphviz", reason="Graphviz, to compare with, is not installed")
    graph = pygraphviz.AGraph(strict=False, directed=True)
    graph.graph_attr.update(nodesep=GAP[0] / 72, layersep=GAP[1] / 72)
    for box, (width, height) in enumerate(sizes):
        graph.add_node(box, shape="box", fixedsize=True, width=width / 72, height=height / 72, label="")
    for number, (a, b) in enumerate(lines):
        graph.add_edge(a, b, key=number, arrowhead="none")
    graph.layout("dot")
    routes = []
    for number, (a, b) in enumerate(lines):
        points = [np.fromstring(p, sep=",") for p in graph.get_edge(a, b, number).attr["pos"].split()]
        route = [(float(points[0][0]), float(points[0][1]))]
        for i in range(0, len(points) - 3, 3):  # cubic Bézier curves
            p = np.array(points[i : i + 4])
            for t in np.linspace(0.1, 1, 10):
                x, y = (1 - t) ** 3 * p[0] + 3 * (1 - t) ** 2 * t * p[1] + 3 * (1 - t) * t**2 * p[2] + t**3 * p[3]
                route.append((float(x), float(y)))
        routes.append(route)
    low, _, high, _ = map(float, graph.graph_attr["bb"].split(","))
    return abs(high - low), crossing_lines(lines, routes)


@pytest.mark.thorough
def test_as_narrow_and_as_few_crossings_as_graphviz() -> None:
    ours, theirs = np.zeros(2), np.zeros(2)
    for graph in example_graphs().values():
        sizes = [
            (text_width(node.name or node.operation or node.details or "x", 11) + 16, 36.0) for node in graph.nodes
        ]
        lines = [(edge.source, edge.target) for edge in graph.edges]
        laid = lay_out(sizes, lines)
        ours += (laid.width, crossing_lines(lines, laid.routes))
        theirs += by_dot(sizes, lines)
    assert ours[0] <= 1.3 * theirs[0] and ours[1] <= 1.3 * theirs[1] + 2, (ours, theirs)
