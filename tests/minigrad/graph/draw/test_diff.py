"""What is different between two graphs."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, Tensor, draw_dot
from minigrad.engine.observers import scope
from minigrad.graph import Drawing


def graph_of(f: Any, shape: tuple[int, ...] = (3,)) -> Drawing:
    x, w = (Tensor(np.ones(shape), requires_grad=True, name=name) for name in "xw")
    with mg.trace():
        loss = f(x, w).sum()
    return draw_dot(loss)


def changes(graph: Drawing) -> list[tuple[str | None, str | None]]:
    return [(node.name or node.operation or node.details, node.change) for node in graph.nodes if node.change]


def test_equal_graphs_have_no_difference() -> None:
    one, other = (graph_of(lambda x, w: np.tanh(x * w)) for _ in range(2))
    merged = one.diff(other)
    assert changes(merged) == [] and len(merged.nodes) == len(other.nodes) and len(merged.edges) == len(other.edges)


def test_added_and_removed_operations() -> None:
    before, after = graph_of(lambda x, w: np.tanh(x * w)), graph_of(lambda x, w: np.exp(x * w) * 2)
    merged = before.diff(after)
    assert changes(merged) == [
        ("exp", "added"),
        ("2", "added"),
        ("multiply", "added"),
        ("sum", "changed"),  # it reads something else
        ("tanh", "removed"),
    ]
    removed = merged.nodes[-1]
    assert removed.id == len(merged.nodes) - 1
    around = {
        (merged.nodes[e.source].operation, merged.nodes[e.target].operation)
        for e in merged.edges
        if removed.id in (e.source, e.target)
    }
    assert around == {("multiply", "tanh"), ("tanh", "sum")}
    assert changes(after) == [] and changes(before) == []


def test_another_shape_keyword_or_operand_is_a_change() -> None:
    small, large = graph_of(lambda x, w: x * w), graph_of(lambda x, w: x * w, (4,))
    assert changes(small.diff(large)) == [("x", "changed"), ("w", "changed"), ("multiply", "changed")]
    before, after = graph_of(lambda x, w: x.reshape(3, 1) * w), graph_of(lambda x, w: x.reshape(1, 3) * w)
    assert changes(before.diff(after)) == [("reshape", "changed"), ("multiply", "changed")]  # which gives (1, 3)
    before, after = graph_of(lambda x, w: x - w), graph_of(lambda x, w: x - x)
    assert [change for name, change in changes(before.diff(after))] == ["changed", "removed"]


def test_operations_are_matched_within_their_module() -> None:
    def layers(*names: str) -> Drawing:
        x = Tensor(np.ones(3), requires_grad=True, name="x")
        y: Any = x
        with mg.trace():
            for name in names:
                with scope(object(), name):
                    y = np.tanh(y)
            loss = y.sum()
        return draw_dot(loss)

    merged = layers("first", "third").diff(layers("first", "second", "third"))
    added = [node for node in merged.nodes if node.change == "added"]
    assert [merged.modules[node.module].name for node in added if node.module is not None] == ["second"]


def test_a_difference_can_be_drawn() -> None:
    merged = graph_of(lambda x, w: np.tanh(x * w)).diff(graph_of(lambda x, w: np.exp(x * w)))
    assert merged.to_dot().count("tanh") >= 1 and merged.to_text()


def test_only_a_graph_can_be_compared_with() -> None:
    with pytest.raises(ArgumentError, match="another Graph, got int"):
        graph_of(lambda x, w: x * w).diff(3)  # type: ignore[arg-type]
