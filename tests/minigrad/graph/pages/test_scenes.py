"""Scenes of generated programs: where each node is, and that both ends of each edge are in the scene of its target."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad.engine.observers import scope
from minigrad.graph.pages.scene_tree import MOST_IN_SCENE
from minigrad.graph.pages.scenes import scenes
from minigrad.graph.record.capture import capture
from minigrad.graph.record.model import Graph
from tests.leaves import leaf

Data = dict[str, Any]


def drawn(loss: Any) -> tuple[Graph, list[Data], list[int]]:
    """The scenes, with what the page fills in from a scene that looks the same."""
    graph = capture(loss)
    found, home = scenes(graph)
    whole: list[Data] = []
    for scene in found:
        model = found[scene.get("like", len(whole))]
        boxes = [a | b for a, b in zip(model["boxes"], scene["boxes"], strict=True)]
        lines = [a | b for a, b in zip(model["lines"], scene["lines"], strict=True)]
        whole.append(model | scene | {"boxes": boxes, "lines": lines})
    return graph, whole, home


def steps(scene: Data, ids: Any) -> list[Any]:
    """What a box shows, or the edges of a line, for each step of a scene."""
    return ids if scene["kind"] == "loop" else [ids]


def program(seed: int) -> Any:
    """Random operations on what there is, in modules, loops, and loops in loops."""
    rng = np.random.default_rng(seed)
    values = [leaf(0.1 * i + 0.2, f"leaf{i}") for i in range(rng.integers(1, 6))]

    def operation() -> None:
        a, b = (values[rng.integers(len(values))] for _ in range(2))
        values.append([a * b, a + b, np.tanh(a), a - 0.5, a * 1.5][rng.integers(5)])

    def loop(depth: int) -> None:
        weight, h = values[rng.integers(len(values))], values[-1]
        for i in range(rng.integers(2, 9)):
            h = np.tanh(h * weight + (leaf(0.1 * i) if seed % 2 else 0.1 * i))
            if depth:
                for _ in range(5):
                    h = np.sin(h) * 0.5
        values.append(h)

    def block(depth: int) -> None:
        for _ in range(rng.integers(1, 5)):
            what = rng.integers(5)
            if what < 2 or depth > 3:
                for _ in range(rng.integers(1, 30)):
                    operation()
            elif what == 2:
                loop(int(rng.integers(2)))
            elif what == 3:
                with scope(object(), f"module{rng.integers(100)}"):
                    block(depth + 1)
            else:
                for i in range(rng.integers(2, 6)):
                    with scope(object(), f"layers.{i}"):
                        values.append(np.tanh(values[-1] * leaf(0.3)) + values[-1])

    with mg.trace():
        block(0)
        return sum(values[1:], values[0])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(40))
def test_every_node_has_one_box_and_every_edge_both_ends_in_its_targets_scene(seed: int) -> None:
    check(*drawn(program(seed)))


def check(graph: Graph, found: list[Data], home: list[int]) -> None:
    own: dict[int, tuple[int, int, int]] = {}  # node -> scene, step, box
    opened: dict[int, tuple[int, int, int]] = {}  # child scene -> the same
    for i, scene in enumerate(found):
        for j, box in enumerate(scene["boxes"]):
            assert ("scene" in box) != ("node" in box)
            ids = steps(scene, box.get("node", box.get("scene")))
            assert len(ids) == scene["count"]
            if not box.get("alias"):
                for t, number in enumerate(ids):
                    known = opened if "scene" in box else own
                    assert number not in known
                    known[number] = i, t, j
    boxed = [node.id for node in graph.nodes if not node.numeral]
    assert sorted(number for number in own if not graph.nodes[number].numeral) == boxed
    assert [own[number][0] for number in boxed] == [home[number] for number in boxed]
    assert sorted(opened) == list(range(1, len(found)))
    assert [scene["parent"] for scene in found[1:]] == [opened[i][0] for i in range(1, len(found))]
    for number, edge in enumerate(graph.edges):
        if graph.nodes[edge.source].numeral:
            continue  # the label of the operation shows it
        i, t, target = own[edge.target]
        scene = found[i]
        (line,) = [line for line in scene["lines"] if number in steps(scene, line["edges"])[t] and line["to"] == target]
        assert holds(scene["boxes"][line["from"]], scene, t, edge.source, own, opened)
    for scene in found:
        check_geometry(scene)


def holds(box: Data, scene: Data, t: int, node: int, own: Any, opened: Any) -> bool:
    """Whether a box shows a node, or is a closed scene that the node is somewhere in."""
    if "node" in box:
        return bool(steps(scene, box["node"])[t] == node)
    inside = own[node][0]
    while inside != steps(scene, box["scene"])[t]:
        if inside == 0:
            return False
        inside = opened[inside][0]
    return True


def check_geometry(scene: Data) -> None:
    assert 1 <= len(scene["forms"]) <= 5
    for form in scene["forms"]:
        corners = []
        for (x, y), box in zip(form["at"], scene["boxes"], strict=True):
            corners.append((x - box["w"] / 2, y - box["h"] / 2, x + box["w"] / 2, y + box["h"] / 2))
        for i, (left, top, right, bottom) in enumerate(corners):
            assert left >= -1 and top >= -1 and right <= form["width"] + 1 and bottom <= form["height"] + 1
            for other in corners[:i]:
                assert left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]
        for line, points in zip(scene["lines"], form["points"], strict=True):
            assert all(-1 <= x <= form["width"] + 1 and -1 <= y <= form["height"] + 1 for x, y in points)
            for end, (x, y) in zip((line["from"], line["to"]), (points[0], points[-1])):
                left, top, right, bottom = corners[end]
                assert left - 2 <= x <= right + 2 and top - 2 <= y <= bottom + 2


# --- loops ---


def recurrence(steps: int) -> Any:
    w, u, h = leaf(0.5, "w"), leaf(0.2, "u"), leaf(0.0, "h0")
    with mg.trace():
        for i in range(steps):
            h = np.tanh(h * w + u * (0.1 * i))
        return h * h


def test_a_loop_is_one_scene_of_one_step() -> None:
    graph, found, home = drawn(recurrence(200))
    check(graph, found, home)
    assert [(scene["kind"], scene["count"]) for scene in found] == [("program", 1), ("loop", 200)]
    loop = found[1]
    own = [box["node"] for box in loop["boxes"] if not box.get("alias")]
    assert [graph.nodes[ids[17]].operation for ids in own] == [
        "multiply",
        "multiply",
        "add",
        "tanh",
    ]  # 0.1 * i is a number in the label of the second
    tanh = own[3]
    before = [box["node"] for box in loop["boxes"] if box.get("alias") and box["node"][1:] == tanh[:-1]]
    assert len(before) == 1 and graph.nodes[before[0][0]].name == "h0"  # what a step reads from the one before
    shared = {
        graph.nodes[box["node"][0]].name for box in loop["boxes"] if box.get("alias") and len(set(box["node"])) == 1
    }
    assert shared == {"w", "u"}


def test_a_short_loop_stays_open() -> None:
    assert "loop" not in {scene["kind"] for scene in drawn(recurrence(3))[1]}


def test_a_loop_in_a_loop() -> None:
    x = leaf(0.5, "x")
    with mg.trace():
        h: Any = x
        for _ in range(6):
            h = h * x
            for _ in range(10):
                h = np.tanh(h + x)
    graph, found, home = drawn(h)
    check(graph, found, home)
    assert [(scene["kind"], scene["count"]) for scene in found] == [("program", 1), ("loop", 6), *[("loop", 10)] * 6]
    assert [scene.get("like") for scene in found[2:]] == [6] * 4 + [
        None
    ] * 2  # the last one holds the end, which is large


def test_a_step_that_reads_otherwise_ends_the_loop() -> None:
    x, other = leaf(0.5, "x"), leaf(0.3, "other")
    with mg.trace():
        values: list[Any] = [x]
        for i in range(20):
            read = values[-1] if i < 12 else values[0]  # from then on no recurrence
            values.append(np.tanh(read) * other)
        loss = values[12] + values[-1]
    graph, found, home = drawn(loss)
    check(graph, found, home)
    assert max(scene["count"] for scene in found) == 12


def test_equal_layers_fold_and_what_differs_by_name_does_not() -> None:
    x = leaf(0.5, "x")

    def layers(names: list[str]) -> Any:
        h: Any = x
        with mg.trace():
            for name in names:
                with scope(object(), name):
                    h = np.tanh(h * leaf(0.3)) + h
        return h

    graph, found, home = drawn(layers([f"layers.{i}" for i in range(6)]))
    check(graph, found, home)
    assert [(scene["kind"], scene["title"], scene["of"], scene["count"]) for scene in found[1:]] == [
        ("loop", "layers", "object", 6)
    ]
    _, found, _ = drawn(layers(["query", "key", "value", "output", "head"]))
    assert [scene["title"] for scene in found] == ["", "query", "key", "value", "output", "head"]
    assert found[2]["like"] == 3  # the first reads a leaf, and the last holds the end


def straight(operations: int) -> Any:
    rng = np.random.default_rng(1)
    x, y = leaf(0.5, "x"), leaf(0.3, "y")
    with mg.trace():
        for _ in range(operations):
            x, y = y, (x * y, np.tanh(x), x + y, np.sin(y))[rng.integers(4)]
        return x + y


@pytest.mark.thorough
def test_a_long_straight_program_is_cut_into_parts_of_parts() -> None:
    graph, found, home = drawn(straight(4000))
    check(graph, found, home)
    assert max(len(scene["boxes"]) for scene in found) <= 2 * MOST_IN_SCENE
    assert {scene["kind"] for scene in found} <= {"program", "part", "loop", "statement"}
    parts = [depth(found, i) for i, scene in enumerate(found) if scene["kind"] == "part"]
    assert {2, 3} == set(parts)  # inside of the one statement of the loop


def test_what_several_parts_read_is_in_the_first() -> None:
    rng = np.random.default_rng(2)
    w, h = leaf(0.5, "w"), leaf(0.3, "h")
    with mg.trace():
        for _ in range(200):
            h = (h * w, np.tanh(h), h + w)[rng.integers(3)]
    graph, found, home = drawn(h)
    check(graph, found, home)
    (number,) = [node.id for node in graph.nodes if node.name == "w"]
    assert home[number] == 1 and found[1]["kind"] == "part"


def depth(found: list[Data], i: int) -> int:
    return 0 if found[i]["parent"] is None else 1 + depth(found, found[i]["parent"])


def test_the_values_of_an_operation_with_many_operands_are_parts() -> None:
    leaves = [leaf(0.1 * i, f"x{i}") for i in range(200)]
    with mg.trace():
        loss = np.stack(leaves).sum() * leaf(2.0, "w")
    graph, found, home = drawn(loss)
    check(graph, found, home)
    assert [scene["title"] for scene in found] == ["", "x0 … x49", "x50 … x99", "x100 … x149", "x150 … x199"]
    assert len(found[0]["boxes"]) == 3 + 1 + 4
    assert [scene.get("like") for scene in found[1:]] == [4, 4, 4, None]


class Shared:
    pass


def test_a_value_that_nothing_reads_any_more_and_a_module_that_runs_twice() -> None:
    shared, x = Shared(), leaf(0.5, "x")
    with mg.trace():
        h: Any = x
        for _ in range(2):
            with scope(shared, "shared"):
                h = np.tanh(h)
            h = h * x
        h + 1.0
    found = drawn(h)
    check(*found)
    assert [scene["title"] for scene in found[1] if scene["kind"] == "module"] == ["shared, call 1", "shared, call 2"]


# --- statements, results and layouts ---


def gates() -> Any:
    """Four gates, three of them sigmoids in a function: too many operations to be seen at once."""
    rng = np.random.default_rng(0)
    w = {gate: leaf(rng.normal(size=(3, 2)), f"w_{gate}") for gate in "ifog"}
    x = np.array([0.5, -1.0])

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    with mg.trace():
        i = sigmoid(w["i"] @ x)
        f = sigmoid(w["f"] @ x)
        o = sigmoid(w["o"] @ x)
        g = np.tanh(w["g"] @ x)
        h = o * np.tanh(f + i * g)
        return (h * h).sum()


def test_a_statement_is_one_box_named_by_its_variable_in_a_program_of_many_operations() -> None:
    graph, found, home = drawn(gates())
    check(graph, found, home)
    program, *inside = found
    assert [scene["title"] for scene in inside] == ["i", "f", "o", "g", "h", inside[-1]["title"]]
    assert {scene["kind"] for scene in inside} == {"statement"}
    names = {graph.nodes[box["node"]].label for box in program["boxes"] if "node" in box}
    assert names == {"w_i", "w_f", "w_o", "w_g", "x"}  # what has a name is outside of the box that reads it
    results = [graph.nodes[box["result"]].label for box in program["boxes"] if "scene" in box]
    assert results[:5] == ["i", "f", "o", "g", "h"]
    operations = [graph.nodes[box["node"]].operation for box in inside[0]["boxes"] if not box.get("alias")]
    assert operations == ["matmul", "negative", "exp", "add", "divide"]  # and no box for either 1


def test_a_value_that_two_statements_read_is_no_part_of_one() -> None:
    x = leaf(0.5, "x")
    with mg.trace():
        values: list[Any] = [np.tanh(x)]
        for _ in range(7):
            values.append(np.sin(values[-1] * values[0]))
    graph, found, home = drawn(values[-1])
    check(graph, found, home)
    (tanh,) = [node.id for node in graph.nodes if node.operation == "tanh"]
    assert home[tanh] == 0


def test_data_that_the_program_hands_to_a_module_are_a_box_outside_of_it() -> None:
    """The module's own weights stay inside."""

    class Doubled(nn.Module):
        def __init__(self) -> None:
            self.inner = nn.Affine(2, 2, rng=np.random.default_rng(0))

        def forward(self, data: Any) -> Any:
            return np.tanh(self.inner(data)) * 2.0

    model, points = Doubled(), np.arange(6.0, dtype=np.float32).reshape(3, 2)
    with mg.trace():
        loss = (model(points) ** 2).sum()
    graph, found, home = drawn(loss)
    title = {node.label: found[home[node.id]]["title"] for node in graph.nodes}
    assert (title["points"], title["inner.weight"], title["inner.bias"]) == ("", "inner", "inner")
    (scene,) = (one for one in found[0]["boxes"] if "scene" in one)
    number = next(node.id for node in graph.nodes if node.label == "points")
    boxes = found[0]["boxes"]
    ends = [(boxes[line["from"]].get("node"), boxes[line["to"]].get("scene")) for line in found[0]["lines"]]
    assert (number, scene["scene"]) in ends


def test_a_module_of_modules_is_open_if_all_is_readable_at_once() -> None:
    def run(layers: int) -> list[Data]:
        h: Any = leaf(0.5, "x")
        with mg.trace(), scope(object(), "net"):
            for i in range(layers):
                with scope(object(), "abcdefghijklmn"[i]):
                    h = np.tanh(h * leaf(0.3))
        return drawn(h)[1]

    assert [scene["title"] for scene in run(2)] == ["", "a", "b"]
    assert [scene["title"] for scene in run(14)][:2] == ["", "net"]


def test_a_long_chain_is_laid_out_in_rows_and_columns() -> None:
    x = leaf(0.5, "x")
    with mg.trace():
        for kind in (np.tanh, np.sin, np.cos, np.arctan, np.exp, np.sinh, np.tanh, np.sin):
            x = kind(x)
    scene = drawn(x)[1][0]
    check_geometry(scene)
    shapes = [form["width"] / form["height"] for form in scene["forms"]]
    assert max(shapes) > 1.5 and all(0.5 < shape < 5 for shape in shapes)


def lines(scene: Data) -> Iterator[tuple[int, int]]:
    return ((line["from"], line["to"]) for line in scene["lines"])


def test_what_reads_a_result_outside_is_an_alias_below() -> None:
    x = leaf(0.5, "x")
    with mg.trace(), scope(object(), "inner"):
        h = np.tanh(x)
    with mg.trace():
        loss = h * 2.0
    graph, found, _ = drawn(loss)
    inner = found[1]
    assert [graph.nodes[box["node"]].operation for box in inner["boxes"]] == ["tanh", None, "multiply"]
    assert set(lines(inner)) == {(0, 2), (1, 0)}


def test_a_leaf_with_a_distant_reader_has_an_alias_there() -> None:
    w = leaf([[0.5, 0.1], [0.2, 0.4]], "w")
    h: Any = w @ np.ones(2)
    for function in (np.tanh, np.exp, np.sin, np.cos, np.sqrt, np.square, np.negative):
        h = function(h)
    graph, (scene, *_), _ = drawn(np.sum(w @ h))
    (own,) = [node.id for node in graph.nodes if node.name == "w"]
    boxes = [box for box in scene["boxes"] if box.get("node") == own]
    assert [box.get("alias", False) for box in boxes] == [False, True]
    readers = [[line["to"] for line in scene["lines"] if line["from"] == scene["boxes"].index(box)] for box in boxes]
    assert [[graph.nodes[scene["boxes"][to]["node"]].operation for to in found] for found in readers] == [
        ["matmul"]
    ] * 2
    check_geometry(scene)


def test_the_last_alias_of_a_value_with_many_readers_counts_the_others() -> None:
    x = leaf([0.1, 0.2, 0.3], "x")
    with mg.trace():
        a = np.tanh(x) * 1.5
        p, q, r = np.sin(a) * 2, np.cos(a) * 3, np.exp(a) * 4
        s, t, u = np.sqrt(a) * 5, np.log(a) * 6, np.square(a) * 7
        loss = np.sum(p + q + r + s + t + u)
    _, found, _ = drawn(loss)
    assert [box["more"] for scene in found if scene["title"] == "a" for box in scene["boxes"] if "more" in box] == [2]
