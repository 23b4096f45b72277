"""In-place changes that forward mode meets, and those that hooks and Functions make in the middle of a sweep."""

import gc
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import Function, GraphError, Tensor
from minigrad.engine.observers import exposed, open_contexts
from minigrad.engine.tape import Leaf
from minigrad.guards.inplace import shared, watched
from minigrad.transforms.forward_mode import push
from tests.minigrad.guards import test_inplace as between

ROW = np.array([1.0, 2.0, 3.0])
CHANGED = "changed in place since the forward pass"


@pytest.fixture(autouse=True)
def _nothing_is_left(nothing_watched: None) -> Iterator[None]:
    yield
    if watched or shared:  # by the traceback of an error
        gc.collect()
    assert not watched and not open_contexts


def leaf(value: Any = ROW, **more: Any) -> Any:
    return Tensor(value, requires_grad=True, **more)


# --- forward mode ---


def pushed(loss: Any) -> Any:
    """The tangent of ``loss`` where all its leaves move by 1."""
    leaves = {p for entry in mg.tape(loss) for p in entry.parents if type(p) is Leaf}
    return push({node: np.ones(node.shape, node.dtype) for node in leaves}, [loss._node])[loss._node]


@pytest.mark.parametrize("change", between.CAUGHT)
def test_forward_mode_sees_what_a_sweep_sees(change: Callable[[], Any]) -> None:
    loss = change()
    with pytest.raises(GraphError, match=CHANGED):
        pushed(loss)


@pytest.mark.parametrize(
    "case",
    [
        between.harmless_before, between.harmless_read, between.harmless_undone, between.harmless_not_kept,
        between.harmless_elsewhere, between.harmless_replaced, between.harmless_index, between.harmless_branch,
    ],
)  # fmt: skip
def test_forward_mode_accuses_no_other(case: Callable[[], Any]) -> None:
    _, loss, want = case()
    np.testing.assert_allclose(pushed(loss), np.sum(want))


@pytest.mark.parametrize(
    "change", [between.older_alias, between.assigned_array, between.few_elements_of_a_large_constant]
)
def test_forward_mode_sees_more_in_detect_anomaly(change: Callable[[], Any]) -> None:
    with mg.detect_anomaly(), pytest.raises(GraphError, match="changed in place"):
        pushed(change())


X = np.array([1.0, 2.0])
DERIVATIVES: dict[str, Callable[..., Any]] = {
    "grad": lambda f: mg.grad(lambda x: f(x).sum())(X),
    "vjp": lambda f: mg.vjp(f, X.copy())[1](X),
    "jvp": lambda f: mg.jvp(f, [X], [X]),
    "jacobian, forward": lambda f: mg.jacobian(f)(X),
    "jacobian, reverse": lambda f: mg.jacobian(lambda x: f(x).sum())(X),
    "hvp": lambda f: mg.hvp(lambda x: (f(x) ** 2).sum(), [X], [X]),
    "hessian": lambda f: mg.hessian(lambda x: (f(x) ** 2).sum())(X),
    "grad of a jvp": lambda f: mg.grad(lambda x: mg.jvp(f, [x], [x])[1].sum())(X),
    "jvp of a jvp": lambda f: mg.jvp(lambda x: mg.jvp(f, [x], [x])[1], [X], [X]),
    "elementwise_grad": lambda f: mg.elementwise_grad(f)(X),
    "autograd_grad": lambda f: (lambda x: mg.autograd_grad(f(x).sum(), x))(leaf(X)),
}
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "*": lambda x, b: x * b,
    "@": lambda x, b: x @ np.stack([b, b]).T * b,
    "affine": lambda x, b: mg.affine(x, np.ones((2, 2)), b) * b,
    "a Function": lambda x, b: Times.apply(x, b),
    "where": lambda x, b: np.where(b > 0, x, -x) / b,
}


class Times(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, b: Any) -> Any:
        ctx.save_for_backward(b)
        return x * b

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * ctx.saved_tensors[0], None


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_derivative_notices_a_refilled_buffer(derivative: str, operation: str) -> None:
    operate, derive = OPERATIONS[operation], DERIVATIVES[derivative]
    buffer = X.copy()

    def refilling(x: Any) -> Any:
        buffer[:] = X
        y = operate(x, buffer)
        buffer[:] = [2.0, 5.0]
        return y

    want = derive(lambda x: operate(x, X))
    with pytest.raises(GraphError, match=CHANGED):
        derive(refilling)
    got = derive(lambda x: operate(x, buffer))  # whose contents are others now
    assert not np.allclose(np.asarray(got[-1]), np.asarray(want[-1]))


# --- in the middle of a sweep ---


def array_in_hand(w: Any) -> Callable[[], None]:
    """Of the tensor, before the sweep."""
    array = w.data
    return lambda: array.fill(7.0)


def view_in_hand(w: Any) -> Callable[[], None]:
    array = w.reshape(-1)[1:].data
    return lambda: array.fill(7.0)


def asked_for_there(w: Any) -> Callable[[], None]:
    return lambda: w.data.fill(7.0)


def decremented(w: Any) -> Callable[[], None]:
    def write() -> None:
        w.data -= 1.0

    return write


def item_assigned(w: Any) -> Callable[[], None]:
    return lambda: w.detach().__setitem__(0, 7.0)


def optimizer_step(w: Any) -> Callable[[], None]:
    w.grad = np.ones_like(w.data)
    optimizer = nn.SGD([w], lr=0.5)
    return lambda: optimizer.step()


WAYS = [array_in_hand, view_in_hand, asked_for_there, decremented, item_assigned, optimizer_step]


def by_a_hook(y: Any, write: Callable[[], None]) -> Any:
    y.register_hook(lambda g: write())
    return y


def by_a_function(y: Any, write: Callable[[], None]) -> Any:
    class Writing(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            write()
            return grads[0] * 1.0

    return Writing.apply(y)


def by_a_rule(y: Any, write: Callable[[], None]) -> Any:
    def rule(g: Any) -> Any:
        write()
        return g

    return mg.primitive(lambda x, /: x + 0, name="writing").vjp(x=rule)(y)


WRITERS = [by_a_hook, by_a_function, by_a_rule]
SWEEPS: dict[str, Callable[[Any, Any], Any]] = {
    "backward": lambda loss, x: loss.backward(),
    "retain_graph": lambda loss, x: loss.backward(retain_graph=True),
    "create_graph": lambda loss, x: loss.backward(create_graph=True),
    "autograd_grad": lambda loss, x: setattr(x, "grad", mg.autograd_grad(loss, x)[0]),
}


def product(
    ws: Sequence[Any], place: int, writer: Callable[..., Any], way: Callable[[Any], Callable[[], None]], written: int
) -> tuple[Any, Any]:
    """``x * ws[0] * ws[1] ...``, in whose sweep ``ws[written]`` is written to before the derivative of factor ``place - 1``."""
    x = leaf(np.ones_like(ws[0].data))
    y: Any = x
    writes: list[Callable[[], None]] = []
    for i, w in enumerate([*ws, None]):
        if i == place:
            y = writer(y, lambda: writes[0]())
        y = y if w is None else y * w
    writes.append(way(ws[written]))
    return x, y.sum()


@pytest.mark.sampled(24)
@pytest.mark.parametrize("sweep", SWEEPS)
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("way", WAYS)
def test_a_write_in_the_middle_of_a_sweep(way: Any, writer: Any, sweep: str) -> None:
    """It raises where what was written to is still to be read, and changes nothing where it has been read."""
    for place, written in itertools.product(range(1, 4), range(3)):
        ws = [leaf(ROW + i) for i in range(3)]
        want = np.prod([w.data for w in ws], axis=0)
        x, loss = product(ws, place, writer, way, written)
        before = [(w.grad, w.grad is not None and w.grad.tolist()) for w in (x, *ws)]
        if written < place:
            with pytest.raises(GraphError, match=CHANGED):
                SWEEPS[sweep](loss, x)
            assert [(w.grad, w.grad is not None and w.grad.tolist()) for w in (x, *ws)] == before
        else:
            SWEEPS[sweep](loss, x)
            np.testing.assert_array_equal(x.grad.data, want)
        del x, loss, ws, before
    gc.collect()


@pytest.mark.parametrize("transform", ["grad", "jacobian", "vjp", "hvp"])
def test_in_the_sweeps_of_transforms(transform: str) -> None:
    w = leaf(ROW)

    def f(x: Any) -> Any:
        y = x * w
        y.register_hook(lambda g: w.data.fill(7.0))
        return (y * 1.0).sum()

    derive: dict[str, Callable[[], Any]] = {
        "grad": lambda: mg.grad(f)(ROW),
        "jacobian": lambda: mg.jacobian(f)(ROW),
        "vjp": lambda: mg.vjp(f, ROW.copy())[1](1.0),
        "hvp": lambda: mg.hvp(f, [ROW], [ROW]),
    }
    with pytest.raises(GraphError, match=CHANGED):
        derive[transform]()


def test_a_sweep_inside_of_a_sweep() -> None:
    """What was handed out before the inner one is written to after it."""
    w, x, hand = leaf(ROW), leaf(ROW), []
    y = x * w
    z = y * 1.0
    last = z * 1.0
    last.register_hook(lambda g: hand.append(w.data))

    def hook(g: Any) -> None:
        assert mg.grad(lambda t: np.sin(t).sum())(ROW)[0] == np.cos(1.0)
        hand[0].fill(7.0)

    z.register_hook(hook)
    with pytest.raises(GraphError, match=CHANGED):
        last.sum().backward()


def test_sweeps_are_as_fast_as_before_once_everything_has_been_compared() -> None:
    """What was handed out makes each entry of a sweep be looked at only if that happened in the middle of it."""

    def hand_out() -> tuple[Any, Any]:
        x = leaf()
        loss = (x * x).sum()
        assert x.data.tolist() == [1.0, 2.0, 3.0]
        return x, loss

    x, loss = hand_out()
    assert threading.get_ident() in exposed
    (x * 1.0).sum().backward()
    assert threading.get_ident() not in exposed
    thread = threading.Thread(target=hand_out)
    thread.start()
    thread.join()
    (x * 1.0).sum().backward()
    assert not exposed  # that thread is no more
    loss.backward(retain_graph=True)
    notes = [entry.notes for entry in mg.tape(loss)]
    loss.backward()
    assert [entry.notes for entry in mg.tape(loss)] == notes  # noted once


def test_in_a_stretch_of_large_arrays() -> None:
    """Which are swept some rows at a time where nothing is watched."""
    w = leaf(np.ones((1024, 1100)))
    x = leaf(np.ones((1024, 1100)))
    y = np.tanh(np.tanh(x * w))
    z = y + 0.0
    z.register_hook(lambda g: w.data.fill(7.0))
    with pytest.raises(GraphError, match=CHANGED):
        z.sum().backward()


def test_in_a_checkpointed_function() -> None:
    """Whose entries keep nothing until the sweep has come to them."""
    w = leaf(ROW)

    def f(x: Any) -> Any:
        y = np.exp(x * w) * 2.0
        z = y * 3.0
        y.register_hook(lambda g: w.data.fill(7.0))
        return z

    x = leaf(ROW)
    loss = mg.checkpoint(f, x).sum()
    with pytest.raises(GraphError, match=CHANGED):
        loss.backward()


def test_a_parameter_may_be_updated_in_its_own_hook() -> None:
    """A leaf's hook runs when every derivative has been computed."""
    ws = [leaf(ROW + i) for i in range(3)]
    want = [np.prod([v.data for v in ws if v is not w], axis=0) for w in ws]
    old = [w.data.copy() for w in ws]

    def update(w: Any) -> Callable[[Any], None]:
        def hook(g: Any) -> None:
            w.data -= 0.1 * g.data

        return hook

    for w in ws:
        w.register_hook(update(w))
    (ws[0] * ws[1] * ws[2]).sum().backward()
    for w, gradient, before in zip(ws, want, old):
        np.testing.assert_allclose(w.grad.data, gradient)
        np.testing.assert_allclose(w.data, before - 0.1 * gradient)


def test_a_hook_may_read_and_write_back() -> None:
    w, x = leaf(ROW), leaf(ROW)
    y = x * w

    def hook(g: Any) -> None:
        array = w.data
        array *= 2.0
        array /= 2.0

    y.register_hook(hook)
    y.sum().backward()
    assert x.grad.tolist() == ROW.tolist()


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("as_tensor", [False, True])
@pytest.mark.parametrize("writer", ["hook", "Function"])
def test_what_user_code_gives_back_may_be_filled_again(writer: str, as_tensor: bool, create_graph: bool) -> None:
    """One buffer for all calls, while the sweep has not come to read what the first call put into it."""
    buffer = np.empty(3)

    def scaled(g: Any, factor: float) -> Any:
        np.multiply(g.detach().numpy(), factor, out=buffer)
        return Tensor(buffer, copy=False) if as_tensor else buffer

    class Scaled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return scaled(grads[0], ctx.factor), None

    def through(x: Any, factor: float) -> Any:
        if writer == "Function":
            return Scaled.apply(x.reshape(3), factor)
        y = x.reshape(3)
        y.register_hook(lambda g: scaled(g, factor))
        return y

    leaves = [leaf() for _ in range(3)]
    total = sum(through(x, i + 2.0) for i, x in enumerate(leaves))
    total.sum().backward(create_graph=create_graph)
    assert [x.grad.tolist() for x in leaves] == [[2.0] * 3, [3.0] * 3, [4.0] * 3]
