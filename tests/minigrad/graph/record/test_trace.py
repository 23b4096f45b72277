"""What a trace writes down, how long it lives, and that nothing of it is left outside."""

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor
from minigrad.engine.observers import active, scope
from minigrad.graph.record.capture import capture
from minigrad.graph.record.rounds import OBJECT, Callee, Owned
from minigrad.graph.record.trace import TraceNote
from minigrad.guards.gradients import norm
from tests.leaves import leaf


def note_of(tensor: Tensor) -> TraceNote:
    note = mg.tape(tensor)[-1].notes[0]
    assert isinstance(note, TraceNote)
    return note


def gradients(tensor: Tensor) -> dict[str | None, float | None]:
    """What a graph says of the gradient of each operation that led to a tensor."""
    return {node.operation: node.gradient for node in capture(tensor).operations}


# --- where it is active ---


def test_operations_outside_have_no_note() -> None:
    x = leaf([1.0, 2.0])
    before = x * 2
    with mg.trace():
        inside = before * 3
    after = inside * 4
    assert [not entry.notes for entry in mg.tape(after)] == [True, False, True]
    assert active.contexts == []


def test_the_block_ends_when_an_exception_leaves_it() -> None:
    with pytest.raises(KeyError), mg.trace():
        raise KeyError
    assert active.contexts == []


def test_one_trace_may_be_entered_twice_and_another_inside_it() -> None:
    x = leaf(1.0)
    with mg.trace() as t:
        with t, mg.trace():
            inner = x * 2
        outer = x * 3
    assert inner._node.notes and outer._node.notes
    assert (x * 4)._node.notes == ()
    inner.backward()
    assert gradients(inner) == {"multiply": 1.0}


def test_a_trace_belongs_to_its_thread() -> None:
    x, notes = leaf(1.0), []
    with mg.trace():
        thread = threading.Thread(target=lambda: notes.append((x * 2)._node.notes))
        thread.start()
        thread.join()
    assert notes == [()]


def test_no_grad_inside_a_trace_still_records_nothing() -> None:
    with mg.trace(), mg.no_grad():
        assert not (leaf(1.0) * 2).requires_grad


# --- modules ---


def test_an_operation_knows_the_modules_it_ran_in() -> None:
    class Layer:
        pass

    model, layer = Layer(), Layer()
    x = leaf(1.0)
    with mg.trace():
        with scope(model, "Model"):
            with scope(layer, "layers.0"):
                y = np.exp(x)
            z = np.exp(y)
        w = np.exp(z)
    paths = [[(s.name, s.kind) for s in note_of(t).modules] for t in (y, z, w)]
    assert paths == [[("Model", "Layer"), ("layers.0", "Layer")], [("Model", "Layer")], []]
    assert note_of(y).modules[0].identity == note_of(z).modules[0].identity != note_of(y).modules[1].identity


def test_constants_are_the_arguments_that_need_no_gradient() -> None:
    x, data = leaf(np.ones((2, 3))), np.ones(3, np.float32)
    with mg.trace():
        product, clipped = data * x, x.clip(0.5)
    (constant,) = note_of(product).constants
    assert (constant.position, constant.shape, constant.dtype, constant.value) == (0, (3,), "float32", None)
    assert constant.array is not None and constant.array() is data
    assert [(c.position, c.shape, c.value) for c in note_of(clipped).constants] == [(1, (), 0.5)]


# --- gradients ---


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_graph_has_the_norm_of_each_cotangent_of_a_backward_after_the_block(create_graph: bool) -> None:
    x = leaf(np.linspace(-1, 1, 6).reshape(2, 3))
    with mg.trace():
        y = np.tanh(x)
        loss = (y * y * 0.5).sum()
    assert set(gradients(loss).values()) == {None}
    loss.backward(create_graph=create_graph)
    found = gradients(loss)
    assert found["sum"] == 1.0 and found["tanh"] == pytest.approx(np.linalg.norm(y.data), rel=1e-12)


def test_several_outputs_have_one_norm_together() -> None:
    x = leaf(np.arange(6.0))
    with mg.trace():
        parts: Any = np.split(x, 3)
    first, _, third = parts
    (3 * first.sum() + (third * third).sum()).backward()
    assert note_of(first).cotangents.keys() == {0, 2}
    assert list(gradients(first).values()) == pytest.approx([np.linalg.norm([3.0, 3.0, 8.0, 10.0])])


def test_the_last_sweep_counts() -> None:
    x = leaf(1.0)
    with mg.trace():
        y = x * 2
    y.backward(3.0, retain_graph=True)
    y.backward(5.0)
    assert gradients(y) == {"multiply": 5.0}


@pytest.mark.parametrize(
    ("array", "want"),
    [
        (np.array([3.0, -4.0]), 5.0),
        (np.array([[3 + 4j], [0.0]]), 5.0),
        (np.full(4, 1e30, np.float32), 2e30),
        (np.full(4, 300, np.float16), 600.0),
        (np.float64(-2.0), 2.0),
        (np.zeros((0, 3)), 0.0),
        (np.array([np.inf, 1.0]), np.inf),
    ],
    ids=["real", "complex", "float32 beyond the root of its maximum", "float16", "a scalar", "empty", "inf"],
)
def test_norm(array: Any, want: float) -> None:
    assert norm(array) == pytest.approx(want, rel=1e-6)
    if isinstance(array, np.ndarray):
        assert norm(Tensor(array)) == norm(array)


def test_the_norm_of_nan_is_nan() -> None:
    assert np.isnan(norm(np.array([1.0, np.nan])))


def test_a_trace_works_on_a_device(put: Callable[[Any], Any]) -> None:
    x = Tensor(put(np.array([1.0, 2.0])), requires_grad=True)
    with mg.trace():
        y = mg.gelu(x * put(np.array([3.0, 4.0])))
    y.backward(put(np.array([3.0, 4.0])))
    assert gradients(y)["gelu"] == 5.0
    names = [(node.operation, node.kind) for node in mg.draw_dot(y).nodes]
    assert names == [(None, "input"), (None, "constant"), ("multiply", "operation"), ("gelu", "loss")]


# --- memory ---


def count(*kinds: type) -> int:
    return sum(type(thing) in kinds for thing in gc.get_objects())


@pytest.mark.usefixtures("no_gc")
def test_notes_and_entries_are_freed_with_the_loss() -> None:
    x = leaf(np.ones(3))
    data = np.ones(3)
    before = count(mg.Entry, TraceNote)
    with mg.trace(), scope(object(), "model"):
        loss = (np.tanh(x * data) + 2).sum()
    loss.backward(retain_graph=True)
    graph = mg.draw_dot(loss)
    assert count(mg.Entry, TraceNote) == before + 8
    del loss
    assert count(mg.Entry, TraceNote) == before
    assert graph.nodes[-1].gradient == 1.0


@pytest.mark.parametrize("values", [False, True])
def test_a_trace_keeps_no_array_of_the_users_alive(values: bool) -> None:
    x = leaf(np.ones(3))
    constant = np.ones(3)
    alive = weakref.ref(constant)
    with mg.trace(values=values):
        loss = (x + constant).sum()  # add keeps nothing
    del constant
    assert alive() is None
    assert [node.shape for node in mg.draw_dot(loss).nodes if node.kind == "constant"] == [(3,)]


# --- values, places, times, bytes ---


def test_operands_and_results_are_copies_made_when_the_operation_ran() -> None:
    x, data = leaf([1.0, 2.0]), np.array([3.0, 4.0])
    with mg.trace():
        y = x + data
        data[0] = 50.0
        z = y + data
    of_y, of_z = note_of(y).arguments, note_of(z).arguments
    assert of_y is not None and of_z is not None
    np.testing.assert_array_equal(of_y[1], [3.0, 4.0])
    np.testing.assert_array_equal(of_z[1], [50.0, 4.0])
    assert of_z[0] is note_of(y).answer  # one copy of what has not changed


def test_without_values_there_are_norms_only() -> None:
    x = leaf([3.0, 4.0])
    with mg.trace(values=False):
        y = x * x
    y.backward(np.array([3.0, 4.0]))
    note = note_of(y)
    assert (note.arguments, note.answer, note.cotangents, note.contributions) == (None, None, {}, [])
    assert note.norms == {0: 5.0}


@pytest.mark.parametrize("create_graph", [False, True])
def test_contributions_are_as_the_rules_gave_them_and_stay_so(create_graph: bool) -> None:
    x, y = leaf(np.ones((2, 3))), leaf(2.0)
    with mg.trace():
        product = x * y
        total = product + product  # the second contribution is added into the first
        loss = total.sum()
    addition = note_of(total)
    loss.backward(create_graph=create_graph)
    to_x, to_y = note_of(product).contributions
    np.testing.assert_array_equal(to_x, np.full((2, 3), 4.0))
    np.testing.assert_array_equal(to_y, np.full((2, 3), 2.0))
    assert [c.tolist() for c in addition.contributions] == [np.ones((2, 3)).tolist()] * 2
    assert type(to_x) is np.ndarray
    of_x, of_y = note_of(product).terms
    assert of_x is to_x and of_y.tolist() == 12.0  # summed over the broadcast axes


def test_a_number_from_a_rule_is_a_term_for_all_elements() -> None:
    shifted = mg.primitive(lambda x, /: 2 * x, name="shifted").vjp(x=lambda g: 2.0)
    x = leaf(np.ones(3))
    with mg.trace():
        y = shifted(x)
        loss = y.sum()
    loss.backward()
    assert x.grad is not None and x.grad.numpy().tolist() == [2.0] * 3
    ((term,), (raw,)) = note_of(y).terms, note_of(y).contributions
    assert term.tolist() == [2.0] * 3 and raw.tolist() == 2.0
    assert capture(loss).contributions[-1].sum.tolist() == [2.0] * 3


def test_an_operation_knows_the_line_that_called_it() -> None:
    x = leaf(1.0)
    with mg.trace():
        y = np.exp(x)  # this line
    source = note_of(y).source
    assert source is not None and source.file == __file__
    assert source.text == "y = np.exp(x)  # this line"
    assert source.function == "test_an_operation_knows_the_line_that_called_it"


def test_an_operation_knows_what_the_program_calls_there() -> None:
    from numpy import exp as e

    x, xp, relu = leaf([1.0, 2.0]), np, mg.relu
    with mg.trace():
        cases: list[tuple[Callee | None, Tensor]] = [
            (Callee("tanh", compiled=False, of_value=False), np.tanh(x)),
            (Callee("exp", compiled=False, of_value=False), e(x)),
            (Callee("sum", compiled=False, of_value=False), xp.sum(x)),
            (Callee("relu", compiled=False, of_value=False), relu(x)),
            (Callee("sum", compiled=False, of_value=True), x.sum()),
            (Callee("exp", compiled=False, of_value=True), [x][0].exp()),
            (Callee("sum", compiled=True, of_value=False), sum([x])),
            (Callee("abs", compiled=True, of_value=False), abs(x)),
            (None, x * x),
        ]
    assert [note_of(y).called[0] for _, y in cases] == [expected for expected, _ in cases]


class Turning:
    def method(this, x: Any) -> Any:
        return x * 2

    @staticmethod
    def function(x: Any) -> Any:
        return x * 3

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * 4


def test_an_operation_knows_the_object_whose_method_runs() -> None:
    x, turning = leaf(1.0), Turning()
    with mg.trace():
        found = [note_of(f(x)).rounds[0] for f in (turning.method, turning.function, Turning.of_class)]
    assert found == [(("method", OBJECT, Owned("Turning", id(turning))),), (), ()]
