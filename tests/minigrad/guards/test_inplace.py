"""In-place changes of arrays that the tape has kept: an error where a gradient would be wrong, and nothing elsewhere."""

import copy
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import GraphError, Tensor
from minigrad.engine.observers import active, open_contexts
from minigrad.guards.inplace import _SMALL, _Sightings, fingerprint, shared, watched
from tests import fake_device
from tests.leaves import grad_of

ROW = np.array([1.0, 2.0, 3.0])


def leaf(value: Any = ROW, **more: Any) -> Any:
    return Tensor(value, requires_grad=True, **more)


@pytest.fixture(autouse=True)
def _nothing_is_left(nothing_watched: None) -> Iterator[None]:
    yield
    if watched or shared:  # by the traceback of an error
        gc.collect()
    assert not watched and not shared and not open_contexts and not active.contexts


# --- what is caught. Each case records, changes, and gives what to sweep ---


def zero(array: Any) -> None:
    array[...] = 0


def data_assigned() -> Any:
    x = leaf()
    loss = (x * x).sum()
    x.data[...] = 0
    return loss


def data_decremented() -> Any:
    x = leaf()
    loss = np.exp(x * x).sum()
    x.data -= 0.1
    return loss


def one_element() -> Any:
    x = leaf(np.ones((50, 50)))
    loss = (x * x).sum()
    x.data[17, 23] = 2
    return loss


def of_two_changes_the_second() -> Any:
    x = leaf()
    loss = (x * x).sum()
    print(x.data)
    x.data[0] = 5
    print(x.data)  # what is seen here has been changed already
    return loss


def numpy_written() -> Any:
    x = leaf()
    loss = (x * x).sum()
    x.numpy()[1] = 0
    return loss


def detached() -> Any:
    x = leaf()
    loss = (x * x).sum()
    x.detach().data[1] = 0
    return loss


def result() -> Any:
    x = leaf()
    y = np.exp(x)
    zero(y.data)
    return y.sum()


def result_of_several() -> Any:
    x = leaf(np.arange(6.0))
    first, second = np.split(x, 2)
    loss = (first * second).sum()
    zero(second.data)
    return loss


def view_of_what_was_kept() -> Any:
    x = leaf()
    loss = (x * x).sum()
    zero(x[1:].data)
    return loss


def what_is_viewed() -> Any:
    x = leaf()
    loss = (x[:2] * x[1:]).sum()
    zero(x.data)
    return loss


def transposed() -> Any:
    x = leaf(np.ones((2, 3)))
    loss = (x * x).sum()
    x.T.data[2, 1] = 0
    return loss


def windows() -> Any:
    """NumPy puts an object of another kind between such a view and what it is a view of."""
    x = Tensor(np.arange(5.0))
    y = Tensor(np.lib.stride_tricks.as_strided(x.data, (4, 2), (8, 8)), copy=False)
    y.requires_grad = True
    loss = (y * y).sum()
    zero(x.data)
    return loss


def several_results_of_which_one_is_kept() -> Any:
    both = mg.primitive(lambda x, /: (x * 2, np.exp(x)), name="both").vjp(x=lambda g, ans: g[1] * ans[1])
    _, e = both(leaf())
    zero(e.data)
    return e.sum()


def saved_by_a_kernel() -> Any:
    x, w, b = leaf(np.ones((4, 3))), leaf(np.ones((3, 2)), name="w"), leaf(np.zeros(2))
    loss = mg.affine(x, w, b).sum()
    w.data *= 2
    return loss


def item_of_a_constant() -> Any:
    c = Tensor(ROW)
    loss = (leaf() * c).sum()
    c[0] = 0
    return loss


def array_of_a_constant() -> Any:
    c = Tensor(ROW)
    loss = (leaf() * c).sum()
    zero(np.asarray(c))
    return loss


def plain_operand() -> Any:
    a = ROW.copy()
    loss = (leaf() * a).sum()
    a[2] = 0
    return loss


def plain_operand_on_the_left() -> Any:
    a = ROW.copy()
    loss = (a * leaf()).sum()
    a[2] = 0
    return loss


def plain_operand_of_a_function() -> Any:
    a = np.ones((3, 2))
    loss = np.matmul(leaf(), a).sum()
    a[2] = 0
    return loss


def plain_operand_beside_the_answer() -> Any:
    """divide keeps both."""
    a = ROW.copy()
    loss = (1.0 / (leaf() / a)).sum()
    a[2] = 7
    return loss


def refilled_buffer() -> Any:
    buffer = np.random.default_rng(0).standard_normal((300, 400))
    loss = (leaf(np.ones((400, 1))) * buffer.T).sum()
    buffer[...] = np.random.default_rng(1).standard_normal((300, 400))
    return loss


def refilled_indices() -> Any:
    ids = np.array([0, 2])
    loss = np.take(leaf(), ids).sum()
    ids[0] = 1
    return loss


def labels() -> Any:
    logits, classes = leaf(np.ones((2, 3))), np.array([0, 1])
    loss = mg.cross_entropy(logits, classes)
    classes[0] = 2
    return loss


def shared_with_the_caller() -> Any:
    a = ROW.copy()
    x = leaf(a, copy=False)
    loss = (x * x).sum()
    a[0] = 0
    return loss


def a_view_shared_with_the_caller() -> Any:
    a = np.ones((2, 3))
    x = leaf(a[1], copy=False)
    loss = np.sin(x).sum()
    a[1, 1] = 0
    return loss


def second_order() -> Any:
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    loss = (x.grad * x.grad).sum()
    x.data[0] = 5
    return loss


def gradient_with_a_graph() -> Any:
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    loss = (x.grad * x.grad).sum()
    x.grad.data[0] = 5
    return loss


def swept_again() -> Any:
    x = leaf()
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    x.data -= grad_of(x)
    x.zero_grad()
    return loss


def an_optimizer_between() -> Any:
    model = nn.Affine(3, 1, rng=np.random.default_rng(0))
    optimizer = nn.SGD(model.parameters(), lr=0.1)
    hidden = model(np.ones((2, 3), np.float32))
    loss = (model(hidden * np.ones(3, np.float32)) ** 2).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    return loss


CAUGHT = [
    data_assigned, data_decremented, one_element, of_two_changes_the_second, numpy_written, detached, result,
    result_of_several, several_results_of_which_one_is_kept, view_of_what_was_kept,
    what_is_viewed, transposed, windows, saved_by_a_kernel, item_of_a_constant,
    array_of_a_constant, plain_operand, plain_operand_on_the_left, plain_operand_of_a_function,
    plain_operand_beside_the_answer, refilled_buffer, refilled_indices, labels, shared_with_the_caller,
    a_view_shared_with_the_caller, second_order, gradient_with_a_graph, swept_again, an_optimizer_between,
]  # fmt: skip


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("change", CAUGHT)
def test_a_change_that_would_falsify_a_gradient_raises(change: Callable[[], Any], create_graph: bool) -> None:
    loss = change()
    leaves = {p for entry in mg.tape(loss) for p in entry.parents if getattr(p, "tensor", None) is not None}
    before = [(t, t.grad, t.grad is not None and t.grad.tolist()) for t in (node.tensor for node in leaves)]
    with pytest.raises(GraphError, match="changed in place since the forward pass"):
        loss.backward(create_graph=create_graph)
    assert all(t.grad is grad and (grad is None or grad.tolist() == values) for t, grad, values in before)


@pytest.mark.parametrize("of", ["primal", "value"])
def test_a_pullback_notices_too(of: str) -> None:
    a = ROW.copy()
    value, pullback = mg.vjp(np.exp if of == "value" else np.sin, a)
    np.testing.assert_allclose(pullback(ROW)[0], ROW * (np.exp(a) if of == "value" else np.cos(a)))
    zero(value if of == "value" else a)
    with pytest.raises(GraphError, match="changed in place"):
        pullback(ROW)


TRANSFORMS: dict[str, Callable[..., Any]] = {
    "grad": lambda f, a: mg.grad(f)(a),
    "value_and_grad": lambda f, a: mg.value_and_grad(f)(a),
    "elementwise_grad": lambda f, a: mg.elementwise_grad(lambda x: f(x) + 0 * x)(a),
    "vjp": lambda f, a: mg.vjp(f, a)[1](1.0),
    "jvp": lambda f, a: mg.jvp(f, [a], [np.ones_like(a)]),
    "jacobian": lambda f, a: mg.jacobian(f)(a),
    "hessian": lambda f, a: mg.hessian(f)(a),
    "hvp": lambda f, a: mg.hvp(f, [a], [np.ones_like(a)]),
}


@pytest.mark.parametrize("given", [np.asarray, lambda array: Tensor(array, copy=False)], ids=["array", "Tensor"])
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_a_function_that_writes_to_its_argument(transform: Callable[..., Any], given: Callable[..., Any]) -> None:
    array = np.array(ROW)
    argument = given(array)

    def f(x: Any) -> Any:
        y = (x * x * x).sum()
        array[...] = 5.0
        return y

    with pytest.raises(GraphError, match=r"changed in place"):
        transform(f, argument)


def test_a_function_that_writes_a_few_elements_of_its_argument() -> None:
    """A sample misses them, and detect_anomaly() does not."""
    a = np.ones(10_000)

    def f(x: Any) -> Any:
        y = (x * x).sum()
        a[1] = 5.0
        return y

    assert mg.grad(f)(a)[1] == 10.0
    a[1] = 1.0
    with mg.detect_anomaly(), pytest.raises(GraphError, match="changed in place"):
        mg.grad(f)(a)


def test_the_message_names_operation_argument_tensor_and_way_out() -> None:
    w = leaf(name="w")
    loss = (leaf() * w).sum()
    w.data *= 2
    with pytest.raises(GraphError, match=r"argument 'y' of 'multiply' \(the tensor 'w'\) has.*np\.copy") as caught:
        loss.backward()
    assert isinstance(caught.value, RuntimeError)
    y = np.exp(leaf())
    zero(y.data)
    with pytest.raises(GraphError, match="the result of 'exp' has been changed"):
        y.sum().backward()


# --- what simply works ---


def test_the_training_loop_of_every_tutorial() -> None:
    w, target = leaf(np.zeros(3)), ROW
    for _ in range(100):
        loss = ((w - target) ** 2).sum()
        w.zero_grad()
        loss.backward()
        w.data -= 0.1 * grad_of(w)
    np.testing.assert_allclose(w.data, target, atol=1e-6)


@pytest.mark.parametrize("retain_graph", [False, True])
def test_a_change_between_two_graphs(retain_graph: bool) -> None:
    w, old = leaf(), []
    for i in range(100):  # more often than changes are remembered
        w.zero_grad()
        loss = (w * w).sum()
        loss.backward(retain_graph=retain_graph)
        np.testing.assert_array_equal(grad_of(w), 2 * w.data)
        w.data += i
        old.append(loss)
    for loss in old:
        with pytest.raises(GraphError):
            loss.backward()


def harmless_before() -> Any:
    x = leaf()
    array = x.data
    array += 1
    return x, (x * x).sum(), 2 * (ROW + 1)


def harmless_read() -> Any:
    x = leaf()
    loss = (x * x).sum()
    assert (x.data == ROW).all() and (x.numpy() == ROW).all() and np.isfinite(x.data).all()
    return x, loss, 2 * ROW


def harmless_undone() -> Any:
    x = leaf()
    loss = (x * x).sum()
    x.data[0] = 5
    (x * x).sum().backward()
    x.zero_grad()
    x.data[0] = 1
    return x, loss, 2 * ROW


def harmless_not_kept() -> Any:
    x, a = leaf(), ROW.copy()
    loss = (x + a + Tensor(a, copy=False)).sum() + x.reshape(3, 1).sum()
    zero(a)
    zero(x.data)
    return x, loss, [2, 2, 2]


def harmless_elsewhere() -> Any:
    x = leaf()
    loss = (x[:1] * x[:1]).sum()
    x[1:].data[...] = 0
    return x, loss, [2, 0, 0]


def harmless_replaced() -> Any:
    x = leaf()
    loss = (x * x).sum()
    x.data = np.zeros(3)
    return x, loss, 2 * ROW


def harmless_index() -> Any:
    """The tape keeps a copy of it."""
    x, i = leaf(), np.array([0, 1])
    loss = x[i].sum()
    i[0] = 2
    return x, loss, [1, 1, 0]


def harmless_branch() -> Any:
    x, y = leaf(), leaf()
    (y * y).sum()
    loss = (x * x).sum()
    zero(y.data)
    return x, loss, 2 * ROW


@pytest.mark.parametrize("case", [
    harmless_before, harmless_read, harmless_undone, harmless_not_kept, harmless_elsewhere, harmless_replaced,
    harmless_index, harmless_branch,
])  # fmt: skip
def test_a_change_that_falsifies_nothing_is_allowed(case: Callable[[], Any]) -> None:
    x, loss, want = case()
    loss.backward()
    np.testing.assert_allclose(grad_of(x), want)


def test_what_needs_no_recomputation_is_not_looked_at() -> None:
    """Only the entries on the way to what is asked for count."""
    w, x = leaf(), leaf()
    out = (w * w).sum() + (x * 3.0).sum()
    zero(w.data)
    from minigrad.engine.tape import sweep

    (g,) = sweep({out._node: np.ones(())}, wanted=[x._node]).values()
    assert g.tolist() == [3, 3, 3]


def test_nan_is_equal_to_itself() -> None:
    x, a = leaf([1.0, np.nan]), np.array([np.nan, 2.0])
    loss = (x * x * a).sum()
    assert np.isnan(x.data[1])
    loss.backward()
    assert np.isnan(grad_of(x)).tolist() == [True, True]


def test_on_a_device_nothing_is_watched() -> None:
    x = leaf(fake_device.asarray(ROW))
    loss = (x * x * fake_device.asarray(ROW)).sum()
    x.data[0] = 5
    loss.backward()  # not caught, and no error either
    assert x.grad is not None


# --- what is caught in detect_anomaly() only ---


def older_alias() -> Any:
    x = leaf()
    array = x.data
    loss = (x * x).sum()
    zero(array)
    return loss


def assigned_array() -> Any:
    x, a = leaf(), np.zeros(3)
    x.data = a
    loss = (x * x).sum()
    a[0] = 1
    return loss


def few_elements_of_a_large_constant() -> Any:
    a = np.ones(10_000)
    loss = (leaf(1.0) * a).sum()
    a[1] = 2
    return loss


@pytest.mark.parametrize("change", [*CAUGHT, older_alias, assigned_array, few_elements_of_a_large_constant])
def test_detect_anomaly_sees_more(change: Callable[[], Any]) -> None:
    with mg.detect_anomaly(), pytest.raises(GraphError, match="changed in place"):
        change().backward()


@pytest.mark.parametrize("change", [older_alias, assigned_array, few_elements_of_a_large_constant])
def test_and_outside_of_it_they_are_missed(change: Callable[[], Any]) -> None:
    """docs/in-place.md says so; whoever makes them caught corrects it."""
    change().backward()


def test_sealing_changes_no_gradient() -> None:
    x, a = leaf(np.ones((3, 2))), np.arange(6.0).reshape(3, 2)
    with mg.detect_anomaly():
        f = (np.tanh(x * a)[np.array([0, 0, 2])] @ a.T).sum()
        f.backward()
    with_seals = grad_of(x).copy()
    x.zero_grad()
    (np.tanh(x * a)[np.array([0, 0, 2])] @ a.T).sum().backward()
    np.testing.assert_array_equal(grad_of(x), with_seals)


# --- fingerprints ---


def layouts(shape: tuple[int, ...], dtype: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Arrays of one shape in several layouts, writeable."""
    array = (100 * np.random.default_rng(0).random(shape)).astype(dtype)
    yield array
    yield np.asfortranarray(array)
    yield np.repeat(array, 2, axis=-1)[..., ::2]
    yield array[::-1]


@pytest.mark.parametrize("dtype", ["?", "i1", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("shape", [(7,), (3, 4), (61, 33), (8, 1021), (3, 5, 700)])
def test_a_whole_fingerprint_sees_every_element(shape: tuple[int, ...], dtype: str) -> None:
    for array in layouts(shape, dtype):
        before = fingerprint(array, whole=True)
        assert before == fingerprint(array, whole=True)
        for flat in {0, 1, array.size // 2, array.size - 1}:
            index = np.unravel_index(flat, shape)
            old = array[index]
            array[index] = not old if dtype == "?" else old + 1
            assert fingerprint(array, whole=True) != before
            array[index] = old
        assert fingerprint(array, whole=True) == before


@pytest.mark.parametrize("shape", [(40, 50), (1021, 8), (256, 64), (5, 6, 700)])
def test_a_fingerprint_sees_the_order(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(0).random(shape)
    for other in (a[::-1], np.roll(a, 1, axis=0), np.roll(a, 1, axis=-1)):
        assert fingerprint(a, whole=True) != fingerprint(np.ascontiguousarray(other), whole=True)


@pytest.mark.parametrize("shape", [(257,), (1000, 64), (64, 1024), (2, 3, 4096)])
def test_a_sampled_fingerprint_sees_a_refill_of_a_half(shape: tuple[int, ...]) -> None:
    for array in layouts(shape, "f8"):
        assert array.nbytes > _SMALL
        before = fingerprint(array)
        old = array.copy()
        for part in (..., slice(None, -1), slice(1, None), slice(len(array) // 2, None)):
            array[part] += 1
            assert fingerprint(array) != before
            array[...] = old
        assert fingerprint(array) == before


@pytest.mark.parametrize("array", [np.array(1.0), np.zeros((0, 3)), np.zeros(0), np.float64(2), 2.0, None])
def test_nothing_is_too_small_for_a_fingerprint(array: Any) -> None:
    assert fingerprint(array) == fingerprint(array) and fingerprint(array, whole=True) == fingerprint(array, whole=True)


# --- what it leaves behind ---


@pytest.mark.usefixtures("no_gc")
def test_watching_keeps_nothing_alive() -> None:
    x = leaf()
    array, loss = weakref.ref(x.data), np.exp(x * x).sum()
    x.data[0] = 0
    assert len(watched) == 1
    del x
    assert array() is not None  # the graph needs it
    del loss
    assert array() is None and not watched


def test_an_array_that_died_is_not_taken_for_the_next_one_with_its_id() -> None:
    """At the recursion limit Python has no room for the call that forgets a dying array."""
    dead = _Sightings(np.ones(3))
    assert dead.array() is None
    x = leaf()
    loss = (x * x).sum()
    watched[id(x._array)] = dead
    x.data[0] = 5
    with pytest.raises(GraphError, match="changed in place"):
        loss.backward()


def test_an_array_that_nobody_else_holds_is_not_watched() -> None:
    x = leaf()
    for t in (x, Tensor(ROW), leaf(np.ones((2, 3))), Tensor(np.ones(6)).reshape(2, 3), Tensor(np.ones((2, 3))).T):
        t.data
        t.numpy()
        assert not watched
    del t
    y = x * x
    assert y.data is not None  # multiply does not keep its answer
    assert x.data is not None and len(watched) == 1  # but both arguments
    del y
    assert x.data is not None and not watched  # their graph is gone


def test_a_loop_over_a_live_graph_does_not_grow() -> None:
    x = leaf()
    loss = (x * x).sum()
    for i in range(200):
        x.data[0] = i
    assert len(watched) == 1 and len(next(iter(watched.values())).seen) <= 64
    del loss


def test_sharing_ends_with_the_tensor() -> None:
    x = leaf(ROW.copy(), copy=False)
    assert open_contexts and len(shared) == 1
    y = x * x
    del x
    assert open_contexts  # the graph holds the leaf
    del y
    assert not open_contexts and not shared


@pytest.mark.parametrize("make", [
    lambda: leaf(ROW), lambda: leaf([1.0, 2.0], copy=False), lambda: Tensor(ROW, copy=False),
    lambda: copy.deepcopy(leaf()), lambda: pickle.loads(pickle.dumps(leaf())), lambda: leaf(ROW, copy=False, dtype="f4"),
])  # fmt: skip
def test_only_shared_leaves_slow_recording_down(make: Callable[[], Any]) -> None:
    made = make()
    assert not open_contexts and made is not None


def test_a_shared_leaf_is_sealed_in_operations_of_any_number_of_arguments() -> None:
    a = np.array([1.0, 2.0])
    x = Tensor(a, requires_grad=True, copy=False)
    y = np.einsum("i,i->", x, x)
    a[0] = 100
    with pytest.raises(GraphError, match=r"'einsum'.*changed in place"):
        y.backward()
