"""check_edges: a wrong rule turns its own edges red, and no others."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, GraphError, Tensor
from minigrad.engine.registry import primitives
from minigrad.graph import Graph
from minigrad.graph.watch.checks import check_edges, wrong_edges


def leaf(value: Any, name: str | None = None) -> Any:
    return Tensor(value, requires_grad=True, name=name)


def errors(graph: Graph) -> dict[tuple[str | None, str], float | None]:
    return {(graph.nodes[edge.target].operation, edge.argument): edge.error for edge in graph.edges}


@pytest.fixture
def sabotage() -> Iterator[Any]:
    """What multiplies the rule of one primitive by 1.001, for one test."""
    undo = []

    def spoil(name: str, argument: str) -> None:
        primitive = primitives[name]
        plans, primitive._plans = primitive._plans, {}
        rules, primitive.rules = primitive.rules, dict(primitive.rules)
        undo.append((primitive, plans, rules))
        right = rules[argument]
        primitive.rules[argument] = lambda g, ans: 1.001 * right(g, ans)

    yield spoil
    for primitive, plans, rules in undo:
        primitive._plans, primitive.rules = plans, rules


def test_right_rules_have_small_errors_in_float32_too() -> None:
    for dtype in (np.float64, np.float32):
        x, w = leaf(np.linspace(-1, 1, 6, dtype=dtype).reshape(2, 3)), leaf(np.ones((3, 2), dtype))
        with mg.trace():
            loss = mg.cross_entropy(
                mg.layer_norm(np.tanh(x @ w), leaf(np.ones(2, dtype)), leaf(np.zeros(2, dtype))), np.array([0, 1])
            )
        graph = check_edges(loss)
        found = [error for error in errors(graph).values() if error is not None]
        assert len(found) == 7 and max(found) < 1e-7
        assert wrong_edges(graph) == []


def test_a_sabotaged_rule_turns_exactly_its_own_edges_red(sabotage: Any) -> None:
    sabotage("tanh", "x")
    x = leaf([0.5, -1.0])
    with mg.trace():
        loss = (np.tanh(x) * np.exp(x) + np.tanh(2 * x)).sum()
    graph = check_edges(loss)
    wrong = wrong_edges(graph)
    assert [graph.nodes[edge.target].operation for edge in wrong] == ["tanh", "tanh"]
    assert all(edge.error is not None and 1e-4 < edge.error < 2e-3 for edge in wrong)


def test_it_needs_no_backward_and_does_none() -> None:
    x = leaf(2.0)
    with mg.trace():
        y = x * x
    check_edges(y)
    assert x.grad is None
    y.backward()
    assert x.grad is not None and x.grad.item() == 4.0
    assert wrong_edges(check_edges(y)) == []  # and after one, which has freed what the tape kept


def test_at_a_kink_there_is_nothing_to_compare_with() -> None:
    x = leaf([0.0, 1.0])
    with mg.trace():
        y = mg.relu(x) + mg.relu(x + 1)
    kinked, smooth = (edge for edge in check_edges(y).edges if edge.argument == "x" and edge.target in (1, 4))
    assert kinked.verdict == "unclear" and "kink" in kinked.reason
    assert smooth.verdict == "agrees" and smooth.reason == ""
    assert smooth.error is not None and smooth.error < 1e-8


def test_several_outputs_integer_operands_and_complex_numbers() -> None:
    x = leaf(np.array([[2.0, 1.0], [0.5, 3.0]]))
    with mg.trace():
        sign, logdet = np.linalg.slogdet(x)
        picked = x[np.array([0, 1, 1])].sum()
        turned = np.exp(1j * x).real.sum()
        loss = sign * logdet + picked + turned
    found = [edge.error for edge in check_edges(loss).edges if edge.error is not None]
    assert len(found) >= 9 and max(found) < 1e-7


def test_constants_are_not_checked() -> None:
    x = leaf([1.0, 2.0])
    with mg.trace():
        y = x * np.array([3.0, 4.0])
    assert errors(check_edges(y))[("multiply", "y")] is None


def test_an_untraced_tensor_raises() -> None:
    with pytest.raises(GraphError, match=r"check_edges needs the operands .* 'with minigrad.trace\(\):'"):
        check_edges(leaf(1.0) * 2)
    with pytest.raises(ArgumentError, match="check_edges needs a Tensor"):
        check_edges(1.0)  # type: ignore[arg-type]
