"""Smaller graphs: what is drawn stands for all that is not."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, draw_dot
from minigrad.engine.observers import scope
from minigrad.graph import Drawing, Edge
from minigrad.graph.draw.simplify import collapse, fold, simpler
from tests.leaves import leaf


class Layer:
    """scale * tanh(x), with an inner module, so that layers are nested."""

    def __init__(self, name: str, scale: float = 0.5) -> None:
        self.name = name
        self.weight = leaf(np.full(3, scale))

    def __call__(self, x: Any) -> Any:
        with scope(self, self.name):
            with scope(Inner(), f"{self.name}.inner"):
                h = np.tanh(x)
            return h * self.weight


class Inner:
    pass


class Model:
    pass


def stack(
    count: int = 4, scales: Any = None, backward: bool = True, path: str = "layers.", most: int | None = None
) -> Drawing:
    layers = [Layer(f"{path}{i}", 0.5 if scales is None else scales[i]) for i in range(count)]
    x = y = leaf([1.0, 2.0, 3.0], "x")
    with mg.trace():
        with scope(Model(), "Model"):
            for layer in layers:
                y = layer(y)
        loss = y.sum()
    if backward:
        loss.backward(retain_graph=True)
    graph = draw_dot(loss, {f"{layer.name}.weight": layer.weight for layer in layers}, max_nodes=most)
    assert x.grad is not None or not backward
    return graph


def told(graph: Drawing) -> list[str]:
    return [f"{node.name or ''}:{node.operation or ''}" for node in graph.nodes]


def links(graph: Drawing) -> list[tuple[int, int]]:
    return [(edge.source, edge.target) for edge in graph.edges]


def check_consistent(graph: Drawing) -> None:
    assert [node.id for node in graph.nodes] == list(range(len(graph.nodes)))
    assert [module.id for module in graph.modules] == list(range(len(graph.modules)))
    assert all(module.parent is None or module.parent < module.id for module in graph.modules)
    assert all(node.module is None or 0 <= node.module < len(graph.modules) for node in graph.nodes)
    assert all(0 <= number < len(graph.nodes) for edge in graph.edges for number in (edge.source, edge.target))
    used = {node.module for node in graph.nodes} | {module.parent for module in graph.modules}
    assert all(module.id in used for module in graph.modules)


# --- collapse ---


def test_modules_below_a_depth_are_one_box_each() -> None:
    whole = stack(3)
    outermost, layers, inner = collapse(whole, 0), collapse(whole, 1), collapse(whole, 2)
    for graph in (outermost, layers, inner):
        check_consistent(graph)
    assert told(outermost) == ["x:", "Model:Model", ":sum"]
    assert told(layers) == ["x:", "layers.0:Layer", "layers.1:Layer", "layers.2:Layer", ":sum"]
    assert links(layers) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert [module.name for module in layers.modules] == ["Model"]
    assert [node.operation for node in inner.nodes if node.kind == "module"] == ["Inner"] * 3
    assert len(collapse(whole, 3).nodes) == len(whole.nodes)
    assert told(whole) == told(stack(3))  # a new graph each time


def test_a_box_has_the_last_operations_shape_and_gradient() -> None:
    whole = stack(2)
    box = collapse(whole, 0).nodes[1]
    inside = [node for node in whole.operations if node.module is not None]
    assert len(inside) == 4 and box.kind == "module"
    assert (box.shape, box.dtype, box.gradient) == ((3,), "float64", inside[-1].gradient)


@pytest.mark.parametrize("depth", [0, 1, 2, None])
def test_a_module_that_is_called_twice_is_two_boxes(depth: int | None) -> None:
    first, second = Layer("a"), Layer("b")
    x = leaf(np.ones(3), "x")
    with mg.trace(), scope(Model(), "Model"):
        loss = first(second(first(x))).sum()
    graph = draw_dot(loss, {"v": first.weight, "w": second.weight}, depth=depth).drawn()
    check_consistent(graph)
    assert all(
        source < target for source, target in links(graph)
    )  # in an order of execution, so that there is no cycle
    boxes = [node.label for node in graph.nodes if node.kind == "module"]
    titles = [module.title for module in graph.modules]
    layers = ["a, call 1", "b", "a, call 2"]
    inner = ["a.inner", "b.inner", "a.inner"]
    open_layers = ["Model", *layers]
    every = ["Model", "a, call 1", "a.inner", "b", "b.inner", "a, call 2", "a.inner"]
    expected = {0: ([], []), 1: (layers, ["Model"]), 2: (inner, open_layers), None: ([], every)}
    assert (boxes, titles) == expected[depth]
    assert depth == 0 or all(
        f"<B>{title}</B>: Layer" in graph.picture().dot() or f"{title}: Layer" in graph.picture().dot()
        for title in layers
    )


def test_the_calls_of_a_module_in_a_loop_are_drawn_once() -> None:
    """Alone in a step they are named together. With other operations they are part of the step, which the loop names."""
    cell, other = Layer("cell"), Layer("other")
    alone = between = twice = leaf(np.ones(3), "x")
    with mg.trace():
        for t in range(6):  # noqa: B007
            alone = cell(alone)
        for t in range(6):  # noqa: B007
            between = np.exp(cell(between))
        for t in range(6):  # noqa: B007
            twice = np.exp(cell(other(cell(twice))))
    graphs = [fold(draw_dot(loss.sum())) for loss in (alone, between, twice)]
    assert [[module.title for module in graph.modules if module.kind != "Inner"] for graph in graphs] == [
        ["cell, calls 1 … 6"],
        ["for t = 0 … 5", "cell"],
        ["for t = 0 … 5", "cell, call 1", "other", "cell, call 2"],
    ]
    inner = [[module.title for module in graph.modules if module.kind == "Inner"] for graph in graphs]
    assert inner[:2] == [["cell.inner"], ["cell.inner"]]
    assert "cell, calls 1 … 6: Layer" in graphs[0].picture().dot() and "x 6" not in graphs[0].picture().dot()
    assert "<B>cell, calls 1 … 6</B>: Layer" in collapse(graphs[0], 0).picture().dot()


def test_what_is_wrong_inside_a_box_shows_on_it() -> None:
    graph = stack(2)
    inner = next(edge for edge in graph.edges if graph.nodes[edge.target].operation == "multiply")
    verdicts: dict[Edge, dict[str, Any]] = {edge: {"error": 1e-9, "verdict": "agrees"} for edge in graph.edges}
    verdicts[inner] = {"error": 0.25, "verdict": "wrong"}
    made: dict[int, dict[str, Any]] = {inner.target + 1: {"culprit": "made the first nan"}}  # in the second layer
    graph = Drawing.of(graph, made | {inner.target: {"tainted": True}}, verdicts)
    first, second = (node for node in collapse(graph, 1).nodes if node.kind == "module")
    assert (first.culprit, first.tainted) == ("derivative wrong by 0.25", True)
    assert (second.culprit, second.tainted) == ("made the first nan", False)
    dot = collapse(graph, 1).to_dot()
    assert "derivative wrong by 0.25" in dot and dot.count('class="module tainted culprit"') == 1


def test_a_box_with_every_verdict_inside_keeps_the_legend_of_the_verdicts() -> None:
    w = leaf([1.0, 2.0], "w")
    with mg.trace(), scope(Model(), "Model"):
        loss = (np.tanh(w) * np.ones(2)).sum()
    loss.backward(retain_graph=True)
    closed = collapse(mg.check_edges(loss, {"w": w}), 0)
    assert not any(edge.verdict for edge in closed.edges)
    picture = closed.picture()
    assert picture.legend[0][0] == ("derivative", None) and not picture.heat


def test_the_depth_that_fits() -> None:
    whole = stack(3)
    sizes = [len(collapse(whole, depth).nodes) for depth in range(3)]
    assert sizes == [3, 5, 11] == sorted(sizes) and len(whole.nodes) == 11
    assert [len(graph.nodes) for graph in simpler(whole)] == [11, 5, 5, 3, 3]


# --- fold ---


def test_attributes_of_their_own_are_no_stack_of_layers() -> None:
    assert len(fold(stack(4, path="fc")).nodes) == len(stack(4).nodes) == 14


def test_equal_layers_one_after_the_other_become_one() -> None:
    folded = fold(stack(4))
    check_consistent(folded)
    assert told(folded) == ["x:", ":tanh", "layers.0.weight:", ":multiply", ":sum"]
    assert links(folded) == [(0, 1), (1, 3), (2, 3), (3, 4)]
    assert [(module.name, module.count) for module in folded.modules] == [
        ("Model", 1),
        ("layers.0", 4),
        ("layers.0.inner", 1),
    ]
    assert "layers.0: Layer x 4" in folded.to_dot()


def test_a_folded_layer_shows_the_range_of_the_gradients() -> None:
    whole = stack(4)
    norms = [node.gradient for node in whole.nodes if node.operation == "tanh"]
    folded = fold(whole)
    (node,) = [node for node in folded.nodes if node.operation == "tanh"]
    assert node.spread == (min(norms), max(norms))  # type: ignore[type-var]
    assert f"|grad| {min(norms):.3g} … {max(norms):.3g}" in folded.to_dot()  # type: ignore[type-var]


def test_a_folded_and_closed_layer_says_how_many_it_is() -> None:
    (box,) = [node for node in collapse(fold(stack(4)), 1).nodes if node.kind == "module"]
    assert (box.name, box.copies) == ("layers.0", 4)
    assert "<B>layers.0</B>: Layer x 4" in collapse(fold(stack(4)), 1).to_dot()


@pytest.mark.parametrize("gradient", [0.0, math.nan, math.inf, None])
def test_a_layer_whose_gradient_stands_out_is_drawn_itself(gradient: float | None) -> None:
    whole = stack(9)
    (weight,) = [node for node in whole.nodes if node.name == "layers.3.weight"]
    nodes = [dataclasses.replace(n, gradient=gradient) if n is weight else n for n in whole.nodes]
    folded = fold(dataclasses.replace(whole, nodes=nodes))
    check_consistent(folded)
    counts = [(module.name, module.count) for module in folded.modules if module.kind == "Layer"]
    assert counts == [("layers.0", 3), ("layers.3", 1), ("layers.4", 5)]


def test_a_layer_with_a_wrong_derivative_is_drawn_itself() -> None:
    whole = stack(3)
    verdicts: dict[Edge, dict[str, Any]] = {edge: {"error": 1e-8, "verdict": "agrees"} for edge in whole.edges}
    verdicts[next(edge for edge in whole.edges if edge.contribution is not None)]["error"] = 1e-9
    assert len(fold(Drawing.of(whole, None, verdicts)).nodes) == 5
    edge = [edge for edge in whole.edges if whole.nodes[edge.target].operation == "tanh"][1]
    verdicts[edge] = {"error": 0.5, "verdict": "wrong"}
    folded = fold(Drawing.of(whole, None, verdicts))
    assert [module.count for module in folded.modules if module.kind == "Layer"] == [1, 1, 1]
    verdicts[edge] = {"error": 1e-6, "verdict": "agrees"}
    folded = fold(Drawing.of(whole, None, verdicts))
    assert max(edge.error or 0 for edge in folded.edges) == 1e-8  # an edge that is gone says nothing


def test_what_is_no_stack_of_equal_layers_is_not_folded() -> None:
    x = leaf(np.ones(3), "x")
    a, b, c = (Layer(f"layers.{i}") for i in range(3))
    with mg.trace():
        two = b(a(x)).sum()
        between = c(np.exp(b(a(x) * 2))).sum()
        chained = c(b(a(x))).sum()
        parallel = np.concatenate([a(x), b(x), c(x)]).sum()
        other_names = Layer("query")(Layer("key")(Layer("value")(x))).sum()
    gone = []
    for loss in (two, between, chained, parallel, other_names):
        whole = draw_dot(loss, {"a": a.weight, "b": b.weight, "c": c.weight})
        gone.append(len(whole.nodes) - len(fold(whole).nodes))
    assert gone == [0, 0, 6, 6, 0]
    with mg.trace():
        for i, axis in enumerate((0, 1, 2)):
            with scope(Model(), f"layers.{i}"):
                x = x.reshape(1, 1, 3).sum(axis=axis, keepdims=True) * np.ones((1, 1, 3))
    assert [module.count for module in fold(draw_dot(x)).modules] == [1, 1, 1]  # other keywords


def test_a_tensor_used_twice_keeps_both_edges() -> None:
    x = leaf(2.0, "x")
    with mg.trace():
        for i in range(3):
            with scope(Model(), f"layers.{i}"):
                x = np.multiply(x, x)
        loss = np.exp(x)
    assert links(fold(draw_dot(loss))) == [(0, 1), (0, 1), (1, 2)]


def test_a_stack_of_layers_with_an_operation_between_is_a_loop() -> None:
    y = leaf(np.ones(3), "x")
    with mg.trace():
        for i in range(5):
            y = np.exp(Layer(f"layers.{i}")(y))
        loss = y.sum()
    folded = fold(draw_dot(loss))
    check_consistent(folded)
    assert [(module.name, module.count, module.parent) for module in folded.modules] == [
        ("for i = 0 … 4", 5, None),
        ("layers.0", 1, 0),
        ("layers.0.inner", 1, 1),
    ]
    assert [node.module for node in folded.nodes] == [None, 2, 0, 1, 0, None]


# --- what is drawn ---


def test_above_max_nodes_layers_fold_and_then_modules_close() -> None:
    graph = stack(12)
    assert len(graph.nodes) == 38
    sizes = [len(dataclasses.replace(graph, max_nodes=most).drawn().nodes) for most in (38, 37, 5, 4, 3)]
    assert sizes == [38, 5, 5, 3, 3]
    graph.max_nodes = 10
    assert graph.to_dot() == fold(graph).to_dot() and "Layer x 12" in graph.to_dot()
    assert len(graph.nodes) == 38


def test_by_default_a_drawing_is_simplified_until_a_slide_can_show_it() -> None:
    assert len(stack(4).drawn().nodes) == 14
    assert len(stack(26).drawn().nodes) == 5
    assert len(stack(26, most=80).drawn().nodes) == 80
    assert len(stack(27, most=80).drawn().nodes) == 5


def test_a_box_of_a_module_hides_no_verdict_in_a_drawing_of_up_to_80_nodes() -> None:
    with mg.trace(), scope(Model(), "Model"):
        y: Any = leaf([1.0, 2.0], "x")
        for _ in range(60):
            y = np.tanh(y)
    assert len(mg.check_edges(y.sum()).drawn().nodes) == 62


def test_data_that_the_program_hands_over_stay_outside_of_the_box_of_a_module() -> None:
    class Net:
        def __init__(self) -> None:
            self.w, self.scale = leaf([1.0, 2.0]), np.array([3.0, 4.0])

        def __call__(self, x: Any, y: Any) -> Any:
            with scope(self, "net"):
                y = y + 1.0  # a new array, but from a parameter
                return (self.w * x * self.scale + y).sum()

    net = Net()
    with mg.trace():
        loss = net(np.ones(2), np.zeros(2)) * 2.0
    graph = draw_dot(loss, {"w": net.w}, depth=0)
    assert [node.label for node in graph.drawn().nodes] == ["np.ones(2)", "y", "net", "2", "loss"]
    assert [node.module for node in graph.drawn().nodes] == [None] * 5


def test_depth_is_what_was_asked_for() -> None:
    graph = stack(4)
    graph.depth = 1
    assert told(graph.drawn()) == ["x:", *(f"layers.{i}:Layer" for i in range(4)), ":sum"]
    graph.max_nodes = 5
    assert told(graph.drawn()) == ["x:", "layers.0:Layer", ":sum"]
    graph.depth = 9
    assert told(graph.drawn()) == told(fold(graph))


@pytest.mark.parametrize("argument", [{"depth": -1}, {"depth": "1"}, {"max_nodes": 0}, {"max_nodes": 2.5}])
def test_bad_depths(argument: dict[str, Any]) -> None:
    ((name, value),) = argument.items()
    with pytest.raises(ArgumentError, match=f"draw_dot takes an integer .*for {name}.*, got {value!r}"):
        draw_dot(leaf(1.0) * 2, **argument)


@pytest.mark.thorough
def test_10000_operations_are_captured_and_collapsed() -> None:
    layers = [Layer(f"layers.{i}", 1.0) for i in range(500)]
    y: Any = leaf(np.ones(3), "x")
    with mg.trace(values=False), scope(Model(), "Model"):
        for layer in layers:
            for _ in range(10):
                y = layer(y)
        loss = y.sum()
    params = {f"{layer.name}.weight": layer.weight for layer in layers}
    graph = draw_dot(loss, params)
    drawn = graph.drawn()
    assert len(graph.operations) == 10_001 and len(drawn.nodes) <= 80


@pytest.mark.thorough
def test_modules_nested_a_thousand_deep() -> None:
    from contextlib import ExitStack

    x = leaf(1.0, "x")
    with mg.trace(), ExitStack() as opened:
        for i in range(1000):
            opened.enter_context(scope(Model(), f"m{i}"))
        loss = np.exp(x)
    graph = draw_dot(loss)
    assert graph.to_dot().count("subgraph") == 1000
    assert len(collapse(graph, 500).nodes) == 2 and len(fold(graph).nodes) == 2
