"""tiny.py, the whole idea in one file: the same values and derivatives as the engine's, and short enough to be read first."""

import ast
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given, settings, strategies as st

import minigrad as mg
from minigrad import tiny

Array = numpy.ndarray
np: Any = numpy  # its types know no Tensor

# Each step of a random program takes values of shape (..., 3, 3) made so far and gives another; no value grows without bounds.
STEPS: dict[str, tuple[int, Any]] = {
    "add": (2, lambda x, y: (x + y) * 0.5),
    "subtract": (2, lambda x, y: np.tanh(x - y)),
    "multiply": (2, lambda x, y: np.tanh(x) * y),
    "divide": (2, lambda x, y: x / (np.exp(y) + 1.0)),
    "exp": (1, lambda x: np.exp(-1.0 * np.exp(x))),
    "log": (1, lambda x: np.log(x * x + 1.0)),
    "tanh": (1, np.tanh),
    "matmul": (2, lambda x, y: np.tanh(x @ (y + np.zeros((3, 3))))),
    "transpose": (1, np.matrix_transpose),
    "sum": (1, lambda x: x + np.expand_dims(np.sum(x, axis=-1), axis=-1) * 0.3),
    "sum, kept axes": (1, lambda x: x - np.sum(x, axis=(-1, -2), keepdims=True) * 0.1),
    "sum of all": (1, lambda x: x * np.tanh(np.sum(x))),
    "a row is broadcast": (1, lambda x: x + np.sum(x, axis=-2, keepdims=True) * 0.3),
    "broadcast_to": (1, lambda x: np.broadcast_to(np.sum(x, axis=-1, keepdims=True) * 0.3, shape=(2, 3, 3))),
    "the same twice": (1, lambda x: x * x * 0.25),
}
Program = list[tuple[str, int, int]]
programs = st.lists(
    st.tuples(st.sampled_from(list(STEPS)), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=8
)


def run(program: Program, inputs: list[Any]) -> Any:
    values = list(inputs)
    for name, i, j in program:
        count, step = STEPS[name]
        values.append(step(*[values[k % len(values)] for k in (i, j)[:count]]))
    return np.sum(values[-1] * values[-1]) + np.sum(values[0] * 0.5)


def derivatives(make: Any, array_of: Any, program: Program, arrays: list[Array]) -> list[Array]:
    """The value, the gradients, and the gradients of their projection on fixed directions."""
    inputs = [make(a, requires_grad=True) for a in arrays]
    loss = run(program, inputs)
    loss.backward(create_graph=True)
    first = [t.grad for t in inputs]
    slope = sum(np.sum(g * (a + 0.5)) for g, a in zip(first, arrays) if g is not None)
    for t in inputs:
        t.grad = None
    slope.backward()
    both = [*first, *[t.grad for t in inputs]]
    return [array_of(loss), *[np.zeros(3) if g is None else np.asarray(array_of(g)) for g in both]]


@settings(max_examples=150)
@given(programs, st.integers(0, 2**32 - 1))
def test_random_programs_agree_with_the_engine_at_two_orders(program: Program, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(shape) for shape in ((3, 3), (2, 3, 3), (1, 3))]
    array_of = lambda t: t.data
    got = derivatives(tiny.Tensor, array_of, program, arrays)
    want = derivatives(mg.Tensor, array_of, program, arrays)
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_it_trains_a_network() -> None:
    """Which quadrants are of one sign: no line separates them."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((200, 2))
    labels = (x[:, 0] * x[:, 1] > 0).astype(int)
    shapes = (2, 16), (16,), (16, 2), (2,)
    weights: Any = [tiny.Tensor(rng.standard_normal(shape) * 0.5, requires_grad=True) for shape in shapes]
    w1, b1, w2, b2 = weights
    losses, scores = [], tiny.Tensor(0.0)
    for _ in range(200):
        scores = np.tanh(x @ w1 + b1) @ w2 + b2
        log_total = np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
        loss = np.sum((log_total - scores) * np.eye(2)[labels]) / len(x)
        loss.backward()
        losses.append(float(loss.data))
        for w in weights:
            w.data = w.data - w.grad.data
            w.grad = None
    assert losses[0] > 0.6 and losses[-1] < 0.15
    assert (scores.data.argmax(axis=1) == labels).mean() > 0.95


def test_a_long_chain_is_no_special_case() -> None:
    x: Any = tiny.Tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    y.backward()
    assert x.grad.data == 1.0


def test_gradients_accumulate_and_constants_get_none() -> None:
    x: Any = tiny.Tensor([1.0, 2.0], requires_grad=True)
    c = tiny.Tensor([3.0, 4.0])
    for _ in range(2):
        np.sum(x * c).backward()
    np.testing.assert_array_equal(x.grad.data, [6.0, 8.0])
    assert c.grad is None and (c * 2.0).node is None


def test_what_it_does_not_know_is_refused() -> None:
    x = tiny.Tensor([[1.0, 2.0]], requires_grad=True)
    for call in (
        *(lambda: np.cos(x), lambda: np.cumsum(x), lambda: np.add.reduce(x), lambda: np.sum(a=x)),
        *(lambda: np.add(x, x, out=x), lambda: np.multiply(x, x, where=[True, False])),
        *(
            lambda: np.sum(x, 0),
            lambda: np.expand_dims(x, 0),
            lambda: np.broadcast_to(x, (2, 2)),
        ),  # keywords by name only
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError, match="unexpected keyword argument 'where'"):
        np.sum(x, where=[True, False]).backward()
    assert x.grad is None


def test_the_tape_of_the_first_example_is_the_table_above_it() -> None:
    w: Any = tiny.Tensor([1.0, 2.0], requires_grad=True)
    loss = np.sum(np.tanh(w) * w)
    tanh, multiply, total = tiny.wengert_list(loss.node)
    assert [entry.primitive.function for entry in (tanh, multiply, total)] == [np.tanh, np.multiply, np.sum]
    assert (tanh.parents, multiply.parents, total.parents) == ({"x": w.node}, {"x": tanh, "y": w.node}, {"a": multiply})
    assert [set(entry.kept) for entry in (tanh, multiply, total)] == [{"ans"}, {"x", "y"}, {"a"}]
    loss.backward()
    np.testing.assert_allclose(w.grad.data, [1.1815685, 1.10532923], rtol=1e-8)


def test_leaves_share_no_gradient_array() -> None:
    x: Any = tiny.Tensor([1.0, 2.0], requires_grad=True)
    y: Any = tiny.Tensor([1.0, 2.0], requires_grad=True)
    np.sum(x + y).backward()
    x.grad.data *= 5.0
    np.testing.assert_array_equal(y.grad.data, [1.0, 1.0])


def test_bad_input_is_refused_before_anything_happens() -> None:
    x, w = tiny.Tensor(np.ones((2, 2, 2)), requires_grad=True), tiny.Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ValueError, match="takes matrices here"):
        x @ w
    for t in (x, x * 1.0, tiny.Tensor(1.0), np.sum(tiny.Tensor([1.0]))):
        with pytest.raises(ValueError, match="starts from one number that was computed from a leaf"):
            t.backward()
    assert x.grad is None and w.grad is None


@pytest.mark.usefixtures("no_gc")
def test_reference_counting_frees_a_graph() -> None:
    x = tiny.Tensor([1.0, 2.0], requires_grad=True)
    y = np.sum(np.tanh(x) * x)
    gone = [weakref.ref(y.node), weakref.ref(x.node), weakref.ref(x)]
    y.backward(create_graph=True)
    del x, y
    assert [reference() for reference in gone] == [None] * 3


def test_it_is_short_and_needs_numpy_only() -> None:
    source = Path(tiny.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 150
    imported = {
        alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {str(node.module) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert imported - set(sys.stdlib_module_names) == {"numpy"}
    assert len(tiny.registry) == 12
