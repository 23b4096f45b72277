"""From a Tensor to nodes, edges and modules."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, GraphError, Tensor, draw_dot
from minigrad.engine.observers import scope
from minigrad.graph import Drawing, Graph, Node
from minigrad.graph.record.capture import capture
from tests.leaves import leaf


def summary(graph: Graph) -> list[tuple[str, str | None, str | None]]:
    return [(node.kind, node.operation, node.name) for node in graph.nodes]


def links(graph: Graph) -> list[tuple[int, int, str]]:
    return [(edge.source, edge.target, edge.argument) for edge in graph.edges]


def find(graph: Graph, name: str) -> Node:
    (node,) = [node for node in graph.nodes if name in (node.name, node.operation)]
    return node


# --- the shape of the graph ---


def test_nodes_come_in_the_order_of_execution_and_edges_in_that_of_arguments() -> None:
    a, b = leaf(np.ones((2, 3)), "a"), leaf(np.ones((3, 4), np.float32), "b")
    y = np.exp(a @ b) - b.sum()
    graph = draw_dot(y)
    assert summary(graph) == [
        ("input", None, "a"),
        ("input", None, "b"),
        ("operation", "matmul", None),
        ("operation", "exp", None),
        ("operation", "sum", None),
        ("loss", "subtract", None),
    ]
    assert [node.id for node in graph.nodes] == list(range(6))
    assert links(graph) == [(0, 2, "x"), (1, 2, "y"), (2, 3, "x"), (1, 4, "a"), (3, 5, "x"), (4, 5, "y")]
    assert [(node.shape, node.dtype) for node in graph.nodes][:3] == [
        ((2, 3), "float64"),
        ((3, 4), "float32"),
        ((2, 4), "float64"),
    ]


def test_a_tensor_used_twice_is_one_node_with_two_edges() -> None:
    x = leaf(2.0, "x")
    y = np.exp(x)
    graph = draw_dot(y * y + x)
    assert [node.operation or node.name for node in graph.nodes] == ["x", "exp", "multiply", "add"]
    assert links(graph) == [(0, 1, "x"), (1, 2, "x"), (1, 2, "y"), (2, 3, "x"), (0, 3, "y")]


def test_of_several_outputs_each_edge_says_which() -> None:
    x = leaf(np.arange(6.0).reshape(3, 2), "x")
    first, _, third = np.split(x, [1, 1])
    y: Any = np.concatenate([third, first, third])
    graph = draw_dot(y)
    assert find(graph, "split").shape is None
    from_split = [(edge.output, edge.shape, edge.argument) for edge in graph.edges if edge.source == 1]
    assert from_split == [(2, (2, 2), "0"), (0, (1, 2), "1"), (2, (2, 2), "2")]
    assert [(edge.output, edge.shape) for edge in graph.edges if edge.source == 0] == [(None, (3, 2))]


def test_one_output_of_several_can_be_drawn_itself() -> None:
    x = leaf(np.arange(5.0))
    last: Any = np.split(x, [2])[1]
    last.name = "last"
    (_, node) = draw_dot(last).nodes
    assert (node.kind, node.operation, node.name, node.shape) == ("loss", "split", "last", (3,))


def test_a_leaf_is_a_graph_of_one_node() -> None:
    assert summary(draw_dot(leaf(1.0, "x"))) == [("input", None, "x")]


@pytest.mark.thorough
def test_a_chain_of_10000_operations() -> None:
    x = y = leaf(1.0)
    for _ in range(10_000):
        y = -y
    graph = draw_dot(y, max_nodes=20_000)
    assert len(graph.nodes) == 10_001 and len(graph.edges) == 10_000
    assert links(graph) == [(i, i + 1, "x") for i in range(10_000)]
    assert graph.to_dot().count("->") == 10_000
    assert x.grad is None


def test_the_same_computation_gives_the_same_graph() -> None:
    def graph() -> Drawing:
        x = leaf(np.ones(3), "x")
        with mg.trace(), scope(object(), "model"):
            y = (np.tanh(x * 2) @ np.ones(3)).reshape(1)
        y.backward()
        return draw_dot(y)

    first, second = graph(), graph()
    assert first.to_dot() == second.to_dot() and repr(first) == repr(second)


def test_the_graph_does_not_change_afterwards() -> None:
    x = leaf(1.0)
    y = x * x
    graph = draw_dot(y)
    y.backward()
    assert graph.nodes[0].gradient is None


def test_keywords_are_details() -> None:
    x = leaf(np.ones((2, 3)))
    graph = draw_dot(x.sum(axis=1)[np.array([0, 1, 1])])
    assert find(graph, "sum").details == "axis=1, keepdims=False"
    assert find(graph, "getitem").details == "index=shape (3,) int64"


# --- parameters, inputs, named tensors ---


class Net:
    def __init__(self) -> None:
        self.weight, self.bias = leaf(np.ones((3, 2))), leaf(np.zeros(2))

    def named_parameters(self) -> Iterator[tuple[str, Tensor]]:
        yield "weight", self.weight
        yield "bias", self.bias


def test_params_tells_parameters_and_inputs_apart() -> None:
    net, x = Net(), leaf(np.ones((1, 3)), "x")
    y = x @ net.weight + net.bias
    want = [("input", "x"), ("parameter", "weight"), ("parameter", "bias")]
    for params in (net, dict(net.named_parameters())):
        graph = draw_dot(y, params)
        assert [(node.kind, node.name) for node in graph.nodes if node.operation is None] == want
    assert [node.kind for node in draw_dot(y).nodes if node.operation is None] == ["input"] * 3


def test_without_params_a_subclass_of_tensor_is_a_parameter() -> None:
    class Parameter(Tensor):
        pass

    p, x = Parameter(1.0, requires_grad=True, name="p"), leaf(2.0, "x")
    assert summary(draw_dot(p * x))[:2] == [("parameter", None, "p"), ("input", None, "x")]


def test_names_in_params_come_before_the_tensors_own() -> None:
    x = leaf(1.0, "own")
    assert draw_dot(x * 2, {"given": x}).nodes[0].name == "given"


def test_tied_parameters_are_one_node() -> None:
    w = leaf(1.0)
    graph = draw_dot(w * 2 + w, {"first": w})
    assert [node.kind for node in graph.nodes].count("parameter") == 1


def test_a_computed_tensor_in_params_is_kept_and_the_loss_bears_its_name() -> None:
    x = leaf(1.0)
    h = np.tanh(x)
    y = h * 2
    y.name = "y"
    assert summary(draw_dot(y, {"h": h}))[1:] == [("named", "tanh", "h"), ("loss", "multiply", "y")]


def test_a_leaf_that_is_gone_is_an_input_whose_gradient_nobody_will_know() -> None:
    y = leaf(1.0, "x") * 2
    y.backward()
    node = draw_dot(y).nodes[0]
    assert (node.kind, node.name, node.watched, node.gradient) == ("input", None, False, None)


# --- gradients ---


def test_leaf_gradients_before_and_after_backward() -> None:
    x, w = leaf(np.array([1.0, 2.0]), "x"), leaf(np.array([3.0, 4.0]), "w")
    loss = (x * w).sum()
    before = draw_dot(loss)
    assert [(node.watched, node.gradient) for node in before.nodes] == [(True, None)] * 2 + [(False, None)] * 2
    loss.backward()
    after = draw_dot(loss)
    np.testing.assert_allclose(find(after, "x").gradient, np.linalg.norm(w.data))  # type: ignore[arg-type]
    np.testing.assert_allclose(find(after, "w").gradient, np.linalg.norm(x.data))  # type: ignore[arg-type]
    assert find(after, "multiply").gradient is None


def test_operations_show_their_gradients_if_they_were_traced() -> None:
    x = leaf(np.array([1.0, 2.0]))
    with mg.trace():
        y = x * x
        loss = (y * y).sum()
    assert [node.gradient for node in draw_dot(loss).nodes] == [None] * 4
    loss.backward()
    gradients = [node.gradient for node in draw_dot(loss).nodes]
    d_y = 2 * x.data**2
    np.testing.assert_allclose(gradients, [np.linalg.norm(2 * x.data * d_y), np.linalg.norm(d_y), np.sqrt(2), 1])  # type: ignore[arg-type]


def test_the_gradient_of_several_outputs_is_that_of_all_together() -> None:
    x = leaf(np.arange(4.0))
    with mg.trace():
        a, b = np.split(x, 2)
        loss = (3 * a + 4 * b).sum()
    loss.backward()
    np.testing.assert_allclose(find(draw_dot(loss), "split").gradient, np.sqrt(50))  # type: ignore[arg-type]


def test_the_gradient_of_replaced_data_is_not_shown() -> None:
    x = leaf(np.ones(2), "x")
    y = (x * x).sum()
    x.data = np.ones(3)
    (x * x).sum().backward()
    assert find(draw_dot(y), "x").gradient is None


# --- what only a trace knows: constants and modules ---


def test_constants_show_inside_a_trace() -> None:
    x, data = leaf(np.ones((2, 2)), "x"), np.ones(2, np.float32)
    assert [node.kind for node in draw_dot((x * data).sum()).nodes] == ["input", "operation", "loss"]
    with mg.trace():
        y: Any = np.where(np.array([True, False]), (x * data) ** 2 + data, [1.0, 2.0])
    graph = draw_dot(y)
    constants = [(node.shape, node.dtype, node.details) for node in graph.nodes if node.kind == "constant"]
    assert constants == [
        ((2,), "float32", ""),
        ((), "int64", "2"),
        ((2,), "bool", ""),
        ((2,), "float64", ""),
    ]
    assert [graph.nodes[edge.source].kind for edge in graph.edges if edge.target == len(graph.nodes) - 1] == [
        "constant",
        "operation",
        "constant",
    ]


@pytest.mark.parametrize(
    ("value", "details"),
    [(3, "3"), (0.123456, "0.1235"), (1e-9, "1e-09"), (np.float32(0.5), "0.5"), (1 + 2j, "1+2j"), (np.True_, "")],
)
def test_a_constant_number_shows_its_value(value: Any, details: str) -> None:
    x = leaf(1.0)
    with mg.trace():
        y: Any = np.multiply(x, value)
    assert [node.details for node in draw_dot(y).nodes if node.kind == "constant"] == [details]


def test_params_can_name_constants() -> None:
    x, frozen, data = leaf(1.0), Tensor([2.0]), np.array([3.0])
    with mg.trace():
        y = x * frozen + data
    graph = draw_dot(y, {"frozen": frozen, "data": data})
    assert [node.name for node in graph.nodes if node.kind == "constant"] == ["frozen", "data"]


class Layer:
    """Stands in for a module of nn."""

    def __init__(self, name: str, function: Any) -> None:
        self.name, self.function = name, function

    def __call__(self, *args: Any) -> Any:
        with scope(self, self.name):
            return self.function(*args)


def test_modules_nest_and_hold_what_only_they_use() -> None:
    w, shared, x = leaf(1.0), leaf(2.0), leaf(3.0)
    a = Layer("a", lambda x: x * w + shared)
    b = Layer("b", lambda x: np.exp(x) * shared * 5)
    model = Layer("model", lambda x: b(a(x)) + 1)
    with mg.trace():
        y = -model(x)
    graph = draw_dot(y, {"w": w, "shared": shared, "x": x})
    assert [(m.id, m.name, m.kind, m.parent) for m in graph.modules] == [
        (0, "model", "Layer", None),
        (1, "a", "Layer", 0),
        (2, "b", "Layer", 0),
    ]
    assert find(graph, "w").module == 1
    assert find(graph, "shared").module == 0
    assert find(graph, "exp").module == 2
    assert find(graph, "negative").module is None
    constants = [(node.details, node.module) for node in graph.nodes if node.kind == "constant"]
    assert constants == [("5", 2), ("1", 0)]


def test_inputs_stay_outside_of_modules() -> None:
    x = leaf(1.0, "x")
    with mg.trace():
        y = Layer("a", np.exp)(x)
    assert [node.module for node in draw_dot(y).nodes] == [None, 0]


def test_a_module_that_is_called_twice_is_two_calls() -> None:
    x, first, second = leaf(1.0), Layer("Affine", np.exp), Layer("Affine", np.exp)
    with mg.trace():
        y = first(second(first(x)))
    graph = draw_dot(y)
    assert [(box.name, box.call) for box in graph.modules] == [("Affine", 1), ("Affine", None), ("Affine", 2)]
    assert [node.module for node in graph.nodes] == [None, 0, 1, 2]


def test_modules_of_one_name_that_are_gone_are_not_calls_of_one_module() -> None:
    """Their memory is reused, so that their ``id`` is the same."""
    y = leaf(1.0)
    with mg.trace():
        for _ in range(3):
            y = Layer("Affine", np.exp)(y)
    assert [box.call for box in draw_dot(y).modules] == [None] * 3


# --- bad input ---


def test_a_tensor_that_was_not_recorded() -> None:
    x = leaf(1.0)
    with mg.no_grad():
        y = x * 2
    y.name = "y"
    with pytest.raises(GraphError, match=r"'y' of shape \(\).*not recorded.*requires_grad=True"):
        draw_dot(y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tensor": np.ones(2)}, "needs a Tensor, or a list of them, got ndarray"),
        ({"params": 3}, "a dict from name to Tensor, .* for params, got int"),
        ({"params": {"w": 3}}, r"params\['w'\] must be a Tensor or an array, got int"),
        ({"rankdir": "XX"}, "rankdir='LR' or 'TB', got 'XX'"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        draw_dot(**{"tensor": leaf(1.0) * 2} | arguments)


# --- values, contributions, lanes: what only a trace knows ---


def test_a_traced_graph_has_the_values_and_every_vector_jacobian_product() -> None:
    x, w = leaf([1.0, 2.0], "x"), leaf(3.0, "w")
    with mg.trace():
        y = np.tanh(x * w)
        loss = (y * x).sum()
    loss.backward()
    graph = draw_dot(loss)
    by_name = {node.name or node.operation: node for node in graph.nodes if node.name != "loss"}
    np.testing.assert_array_equal(by_name["tanh"].value, y.data)
    np.testing.assert_array_equal(by_name["tanh"].cotangent, x.data)
    assert isinstance(x.grad, Tensor) and isinstance(w.grad, Tensor)
    np.testing.assert_allclose(by_name["x"].cotangent, x.grad.data, rtol=1e-15)
    products = graph.contributions
    operations = [graph.nodes[edge.target].operation for edge in products]
    assert operations == ["sum", "multiply", "multiply", "tanh", "multiply", "multiply"]
    into_x = [edge.contribution for edge in products if graph.nodes[edge.source].name == "x"]
    np.testing.assert_allclose(into_x[0], y.data)  # of y * x, the later operation first
    np.testing.assert_allclose(into_x[1], 3 * x.data * (1 - y.data**2))


def test_a_contribution_is_shown_before_and_after_un_broadcasting() -> None:
    x, w = leaf([1.0, 2.0], "x"), leaf(3.0, "w")
    with mg.trace():
        loss = (x * w).sum()
    loss.backward()
    graph = draw_dot(loss)
    to_x, to_w = graph.contributions[1:]
    assert to_x.raw is to_x.contribution
    np.testing.assert_array_equal(to_w.raw, [1.0, 2.0])
    assert to_w.contribution == 3.0 and to_w.contribution.shape == ()


def test_an_untraced_graph_has_neither_values_nor_contributions() -> None:
    x = leaf([1.0, 2.0])
    loss = (x * 2).sum()
    loss.backward()
    graph = draw_dot(loss)
    assert graph.contributions == [] and all(node.value is node.cotangent is None for node in graph.nodes)


def test_a_graph_keeps_its_arrays_when_the_optimizer_writes_in_place() -> None:
    x = leaf([1.0, 2.0], "x")
    with mg.trace():
        loss = (x * x).sum()
    loss.backward()
    x.data -= 10
    graph = draw_dot(loss)
    np.testing.assert_array_equal(graph.nodes[0].value, [1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        graph.nodes[0].value[0] = 5.0


def test_the_passes_of_a_cube_are_lanes() -> None:
    """y = x**3 at 2: 8, 12, 12; each backward operation knows whose rule it came from."""
    x = leaf(2.0, "x")
    with mg.trace():
        y = x**3
        y.backward(create_graph=True)
        first, x.grad = x.grad, None
        assert isinstance(first, Tensor)
        first.backward(create_graph=True)
    second = x.grad
    assert isinstance(second, Tensor)
    graph = capture([y, first, second])
    ends = [node for node in graph.nodes if node.kind in ("loss", "named")]
    assert [(float(node.value), node.lane) for node in ends] == [(8.0, 0), (12.0, 1), (12.0, 2)]
    power = next(node for node in graph.operations)
    assert {node.lane for node in graph.operations} == {0, 1, 2}
    assert power.origin is None
    assert {node.origin for node in graph.operations if node.lane == 1} - {None} == {power.id}
    of_second = [node.origin for node in graph.operations if node.lane == 2 and node.origin is not None]
    assert of_second and all(graph.nodes[number].lane < 2 for number in of_second)


def test_a_list_of_tensors_must_be_tensors() -> None:
    with pytest.raises(ArgumentError, match="capture needs a Tensor, or a list of them, got list"):
        capture([1.0])  # type: ignore[list-item]
