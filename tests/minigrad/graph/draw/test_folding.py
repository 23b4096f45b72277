"""Loops in drawings: 200 equal steps are one, and nothing else is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.engine.observers import scope
from minigrad.graph import Drawing, Edge, Node
from minigrad.graph.draw import folding
from minigrad.graph.draw.calls import CallsAround
from minigrad.graph.draw.folding import Folder, program
from minigrad.graph.draw.simplify import fold
from minigrad.graph.pages.scene_tree import SceneTree
from tests.leaves import leaf


def recurrence(steps: int, backward: bool = True) -> Drawing:
    """What reads an element of an array in every step."""
    w, b, x = leaf(0.9, "w"), leaf(0.1, "b"), mg.Tensor(np.linspace(0, 1, steps), requires_grad=True, name="x")
    h = mg.Tensor(0.0)
    with mg.trace():
        for t in range(steps):
            h = (w * h + x[t] + b).tanh()
        loss = h * h
    if backward:
        loss.backward()
    return mg.draw_dot(loss, {"w": w, "b": b})


def test_a_loop_is_drawn_once() -> None:
    drawn = recurrence(200).drawn()
    assert [(module.name, module.count) for module in drawn.modules] == [("for t = 0 … 199", 200)]
    inside = [node.operation for node in drawn.nodes if node.module == 0]
    assert sorted(map(str, inside)) == ["add", "add", "getitem", "multiply", "tanh"]
    outside = {node.name or node.operation or node.kind for node in drawn.nodes if node.module is None}
    assert outside == {"w", "b", "x", "constant", "multiply"}
    assert "for t = 0 … 199, 200 steps" in recurrence(200).to_dot()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("steps", [50, 200, 400])
def test_the_picture_does_not_grow_with_the_loop(steps: int) -> None:
    svg = recurrence(steps, backward=False).to_svg()
    width, height = map(float, re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
    assert width < 1500 and height < 1500


def test_a_short_program_stays_as_it_is_if_a_slide_can_show_it_or_it_was_asked_for() -> None:
    graph = recurrence(3)
    assert len(graph.drawn().nodes) == len(graph.nodes) and not graph.drawn().modules
    graph = recurrence(5)
    assert [module.count for module in graph.drawn().modules] == [5]
    graph.max_nodes = 80
    assert len(graph.drawn().nodes) == len(graph.nodes) and not graph.drawn().modules


def test_steps_that_differ_by_their_gradient_are_not_one() -> None:
    """From the middle on, backwards, the gradient is zero: relu is flat there."""
    w, h = leaf(1.0, "w"), mg.Tensor(1.0)
    with mg.trace():
        for t in range(60):
            h = (w * h - (2.0 if t == 29 else 0.0)).clip(0.0)
        loss = h + w
    loss.backward()
    drawn = mg.draw_dot(loss).drawn()
    counts = [module.count for module in drawn.modules]
    assert len(counts) == 2 and 56 <= sum(counts) <= 60


def test_two_loops_one_after_the_other() -> None:
    w, h = leaf(0.9, "w"), mg.Tensor(1.0)
    with mg.trace():
        for _ in range(30):
            h = (w * h).tanh()
        for _ in range(40):
            h = (w * h).exp() * 0.1
        loss = h * 2.0
    drawn = mg.draw_dot(loss).drawn()
    assert [(module.name, module.count) for module in drawn.modules] == [("loop", 30), ("loop 2", 40)]


def test_a_loop_in_equal_layers_folds_twice() -> None:
    class Layer:
        pass

    w, y = leaf(0.9, "w"), leaf(1.0, "x")
    with mg.trace():
        for i in range(4):
            with scope(Layer(), f"layers.{i}"):
                for _ in range(30):
                    y = (w * y).tanh()
        loss = y * 2.0
    drawn = mg.draw_dot(loss).drawn()
    assert [(module.kind, module.count, module.parent) for module in drawn.modules] == [
        ("Layer", 4, None),
        ("loop", 30, 0),
    ]
    assert len([node for node in drawn.nodes if node.module == 1]) == 2


def test_the_values_of_a_step_are_in_it() -> None:
    """A constant of its own in every step, another that all read."""
    w, h, shared = leaf(0.9, "w"), leaf(1.0, "h"), leaf(3.0, "c")
    with mg.trace():
        for t in range(40):
            h = (w * h + float(t)) * shared
        loss = h * 2.0
    drawn = mg.draw_dot(loss).drawn()
    assert sorted(node.kind for node in drawn.nodes if node.module == 0) == ["constant", *["operation"] * 3]
    assert {"w", "h", "c"} <= {node.name for node in drawn.nodes if node.module is None}


def test_loops_in_a_loop() -> None:
    w, h = leaf(0.9, "w"), mg.Tensor(1.0)
    with mg.trace():
        for _ in range(20):
            for _ in range(30):
                h = (w * h).tanh()
            h = h.exp() * 0.1
        loss = h * 2.0
    drawn = mg.draw_dot(loss).drawn()
    modules = [(module.name, module.count, module.parent) for module in drawn.modules]
    assert modules == [("loop", 20, None), ("loop", 30, 0)]
    assert [node.module for node in drawn.operations] == [1, 1, 0, 0, None]


@pytest.mark.parametrize("steps", [4, 7, 60])
def test_a_drawing_and_a_page_show_the_same_loops(steps: int) -> None:
    graph = recurrence(steps)
    scenes = [stages[0].unit for stages in SceneTree(graph).stages.values()]
    found = {tuple(map(len, unit.operations)) for unit in scenes if unit.kind == "loop"}
    drawn = fold(graph)
    inside = Counter(node.module for node in drawn.operations)
    assert {(inside[module.id],) * module.count for module in drawn.modules} == found != set()
    first = {tuple(unit.operations[0]) for unit in scenes if unit.kind == "loop"}
    assert {tuple(names(graph, step)) for step in first} == {
        tuple(names(drawn, [node.id for node in drawn.operations if node.module == module.id]))
        for module in drawn.modules
    }


def names(graph: Drawing, numbers: Sequence[int]) -> list[str]:
    return [str(graph.nodes[number].operation) for number in numbers]


@pytest.mark.parametrize(
    ("signs", "found"),
    [
        ("abababab", [(0, 2, 4)]),
        ("xabcabcabcabcy", [(1, 3, 4)]),
        ("ababab", []),  # three rounds
        ("aaaa", []),  # four operations
        ("aaaaaaaa", [(0, 1, 8)]),
        ("aabaabaabaab", [(0, 3, 4)]),
        ("aaaabaaaabaaaabaaaab", [(0, 5, 4)]),  # four operations in it are no loop of their own
        ("ababababcdcdcdcd", [(0, 2, 4), (8, 2, 4)]),
        ("", []),
    ],
)
def test_what_repeats_is_found(signs: str, found: list[tuple[int, int, int]]) -> None:
    nodes = [Node(i, "operation", sign, None, (), "float64") for i, sign in enumerate(signs)]
    folder, place, runs = Folder({}, {}), 0, []
    for unit in folder.folded([folder.operation(node) for node in nodes]):
        if unit.kind == "loop":
            runs.append((place, len(unit.operations[0]), len(unit.operations)))
        place += len(list(unit.all_operations()))
    assert runs == found


def test_a_loop_has_the_name_of_its_variable() -> None:
    """A box around a loop names its first and last round. Without a variable that tells rounds apart it is a "loop"."""
    w, h = leaf(0.9, "w"), mg.Tensor(1.0)
    with mg.trace():
        for epoch in range(5):  # noqa: B007
            for word in ("a", "b", "c", "d", "e"):  # noqa: B007
                h = (w * h).tanh()
            h = h.exp() * 0.1
        for _ in range(30):
            h = (w * h).sqrt()
        loss = h * 2.0
    drawn = mg.draw_dot(loss, max_nodes=10)
    assert [module.name for module in fold(drawn).modules] == ["for epoch = 0 … 4", "for word = 'a' … 'e'", "loop"]
    drawn.depth = 0
    assert "<B>for epoch = 0 … 4</B>, 5 steps" in drawn.to_dot() and "<B>loop</B>, 30 steps" in drawn.to_dot()


def cell(steps: int, first: bool) -> Drawing:
    """A loop over ``h`` and ``c``. If ``first``, its first round reads constants only, so it has one operation less."""
    w, b = mg.Tensor(np.full((4, 3), 0.3), requires_grad=True, name="w"), leaf(0.1, "b")
    zeros: list[Any] = [np.zeros(2) if first else mg.Tensor(np.zeros(2), requires_grad=True) for _ in range(2)]
    h, c = zeros
    with mg.trace():
        for t in range(steps):
            a = w @ np.concatenate([[0.1 * t], h]) + b
            c = np.tanh(a[:2]) * c + np.tanh(a[2:])
            h = np.tanh(c) * a[:2]
        loss = (h * h).sum()
    return mg.draw_dot(loss, {"w": w, "b": b})


def variable(drawing: Drawing, number: int, name: str) -> Any:
    """The value of a loop variable of the innermost function when an operation ran."""
    return {known: value for _, known, value in drawing.nodes[number].rounds[0]}[name]


@pytest.mark.parametrize("first", [True, False])
def test_a_step_of_a_loop_is_a_round_of_the_program(first: bool) -> None:
    drawing = cell(12, first)
    (loop,) = [unit for unit in program(drawing).iterations[0] if unit.kind == "loop"]
    rounds = [{variable(drawing, number, "t") for number in step} for step in loop.operations]
    assert rounds == [{t} for t in range(int(first), 12)]
    title = CallsAround(drawing).title(loop.operations)
    assert title == f"for t = {int(first)} … 11"


def test_a_step_of_two_rounds_has_the_name_of_neither() -> None:
    """Every second round is like the one two before, so that a step has two rounds."""
    w = leaf(0.9, "w")
    h: Any = mg.Tensor(1.0)
    with mg.trace():
        for t in range(40):
            h = np.tanh(w * h) if t % 2 else np.sin(w * h)
        loss = h * 2.0
    drawing = mg.draw_dot(loss)
    (loop,) = [unit for unit in program(drawing).iterations[0] if unit.kind == "loop"]
    assert [len(step) for step in loop.operations] == [4] * 20
    assert CallsAround(drawing).title(loop.operations) == ""


def test_equal_values_in_a_row_are_rounds_of_their_own() -> None:
    """So a step is a round, though the first round has one operation less and "l" follows "l"."""
    w, b = mg.Tensor(np.full((2, 3), 0.3), requires_grad=True, name="w"), leaf(0.1, "b")
    h: Any = np.zeros(2)
    with mg.trace():
        for letter in "hello":
            h = np.tanh(w @ np.concatenate([[ord(letter) / 100], h]) + b)
        loss = (h * h).sum()
    drawing = mg.draw_dot(loss)
    (loop,) = [unit for unit in program(drawing).iterations[0] if unit.kind == "loop"]
    letters = [[variable(drawing, number, "letter") for number in step] for step in loop.operations]
    assert letters == [[letter] * 4 for letter in "ello"]


def test_the_rounds_of_a_loop_are_found_below_many_calls() -> None:
    """A trace stores a limited number of calls, so only the shallow operations know the round of the loop."""
    w = leaf(0.9, "w")

    def deep(h: Any, calls: int) -> Any:
        return deep(h, calls - 1) if calls else np.tanh(w * h)

    h: Any = mg.Tensor(1.0)
    with mg.trace():
        for t in range(6):  # noqa: B007
            h = np.exp(deep(h, 12))
        loss = h * 2.0
    drawn = fold(mg.draw_dot(loss))
    assert [module.count for module in drawn.modules] == [6]


def test_steps_that_are_not_equally_wired_are_compared_once() -> None:
    """100 rounds of 40 operations read values at irregular distances. A run is not searched again from each of its places."""
    nodes = [Node(i, "operation", str(i % 40), None, (), "float64") for i in range(4000)]
    rng = np.random.default_rng(0)
    edges = {i: [Edge(int(rng.integers(i // 2, i)), i, "x", None, ())] for i in range(1, 4000)}
    looked_at = 0

    class Counting(Folder):
        def _wiring(self, step: Any, *args: Any) -> Any:
            nonlocal looked_at
            looked_at += len(step)
            return super()._wiring(step, *args)

    folder = Counting(edges, {})
    assert len(folder.folded([folder.operation(node) for node in nodes])) == 4000
    assert looked_at < 100 * 4000


def test_two_coupled_recurrences_are_one_loop_without_a_trace() -> None:
    """Each round has two products and two tanh. Steps of one product and one tanh are not equally wired."""
    u = mg.Tensor(0.5, requires_grad=True, name="u")
    a: Any = mg.Tensor(0.5, requires_grad=True, name="a")
    b: Any = mg.Tensor(0.5, requires_grad=True, name="b")
    for _ in range(30):
        a = np.tanh(a * u)
        b = np.tanh(b * a)
    drawn = fold(mg.draw_dot(b * 2.0))
    assert [module.count for module in drawn.modules] == [30]
    assert [node.module for node in drawn.operations] == [0, 0, 0, 0, None]


def test_only_steps_that_may_repeat_are_compared_unit_by_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 3000 random operations of five kinds nearly no step repeats."""
    kinds = np.random.default_rng(0).integers(0, 5, 3000)
    nodes = [Node(i, "operation", str(kind), None, (), "float64") for i, kind in enumerate(kinds)]
    edges = {i: [Edge(i - 1, i, "x", None, ())] for i in range(1, 3000)}
    compared = []

    def repeats(signatures: Any, period: int) -> Any:
        compared.append(period)
        return original(signatures, period)

    original = folding._repeats
    monkeypatch.setattr(folding, "_repeats", repeats)
    folder = Folder(edges, {})
    folder.folded([folder.operation(node) for node in nodes])
    assert max(compared) < 20
