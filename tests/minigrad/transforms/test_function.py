"""Function: forward and backward written out, beside the same Function in PyTorch and beside plain operations."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Function, Tensor
from tests import fake_device
from tests.lazy import torch
from tests.leaves import grad_of

X = np.array([0.5, 1.5, -2.0])


class Power(Function):
    """x**n from its input."""

    @staticmethod
    def forward(ctx: Any, x: Any, n: int, scale: float = 1.0) -> Any:
        ctx.save_for_backward(x)
        ctx.n, ctx.scale = n, scale
        return x**n * scale

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * (ctx.scale * ctx.n) * x ** (ctx.n - 1), None


class Exp(Function):
    """From its output; it fits both libraries."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp() if hasattr(x, "exp") else np.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensors
        return g * y


class Pair(Function):
    """Two outputs, one of which is saved, and an argument that may need no gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        e = np.exp(x)
        ctx.save_for_backward(e, y)
        return e, e * y

    @staticmethod
    def backward(ctx: Any, ge: Any, gp: Any) -> Any:
        e, y = ctx.saved_tensors
        return (ge * e + gp * e * y, gp * e if ctx.needs_input_grad[1] else None)


def leaf(*values: float) -> Tensor:
    return Tensor(values or X, requires_grad=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: Power.apply(x, 3),
        lambda x: Power.apply(x * x, 2, scale=0.5) * x,
        Exp.apply,
        lambda x: Exp.apply(Exp.apply(x)),
        lambda x: Pair.apply(x, x * 2.0),
        lambda x: Pair.apply(x, np.ones(3))[1],
        lambda x: Pair.apply(x, x)[0],
    ],
)
def test_three_orders(f: Any) -> None:
    mg.check_grads(f, [X * 0.5], order=3)


def test_it_is_one_operation() -> None:
    x = leaf()
    y = Power.apply(x, 3)
    assert [entry.primitive.name for entry in mg.tape(y)] == ["Power"] and "op=Power" in repr(y)
    np.testing.assert_array_equal(y.data, X**3)
    y.sum().backward()
    np.testing.assert_allclose(grad_of(x), 3 * X**2)
    e, p = Pair.apply(x, x)
    assert [entry.primitive.name for entry in mg.tape((e * p).sum())] == ["Pair", "multiply", "sum"]
    assert "Pair" in mg.draw_dot(p).to_dot()


def test_like_pytorch() -> None:
    class Theirs(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return Exp.forward(ctx, x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return Exp.backward(ctx, g)

    x, other = leaf(), torch.tensor(X, requires_grad=True)
    (g,) = mg.autograd_grad((Exp.apply(x) ** 2).sum(), x, create_graph=True)
    (want,) = torch.autograd.grad((Theirs.apply(other) ** 2).sum(), other, create_graph=True)
    np.testing.assert_allclose(g.data, want.detach().numpy())
    g.sum().backward()
    want.sum().backward()
    assert other.grad is not None
    np.testing.assert_allclose(grad_of(x), other.grad.numpy())


def test_unused_outputs_come_as_zeros() -> None:
    seen: list[Any] = []

    class Two(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2, x[:2] * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            seen.append((a, b))
            return a * 2

    x = leaf()
    Two.apply(x)[0].sum().backward()
    a, b = seen[0]
    assert type(a) is type(b) is Tensor and a.data.tolist() == [1, 1, 1] and b.data.tolist() == [0, 0]
    assert not a.data.flags.writeable
    assert b.dtype == x.dtype


def test_context() -> None:
    seen: list[Any] = []

    w = leaf()

    class Look(Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any, c: Any) -> Any:
            assert not (a * 2).requires_grad and c == "c"
            ctx.save_for_backward(a, None, b)
            seen.append(ctx.needs_input_grad)
            return a * b

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            a, none, b = ctx.saved_tensors
            seen.append((a, none, b, ctx.needs_input_grad, (g * a * w).requires_grad))
            return g * b, None, None

    a, b = leaf(), Tensor(X)
    Look.apply(a, b, "c").sum().backward()
    assert seen[0] == (True, False, False)
    saved_a, none, saved_b, needs, recorded = seen[1]
    assert saved_a.data is a.data and none is None and saved_b.data is b.data and needs == (True, False, False)
    assert not recorded and not saved_a.requires_grad
    with mg.no_grad():
        assert not Look.apply(a, b, "c").requires_grad
    assert seen[2] == (False, False, False)


def test_what_goes_in_comes_out() -> None:
    assert type(Power.apply(X, 3)) is np.ndarray
    plain = Power.apply(Tensor(X), 3)
    assert type(plain) is Tensor and not plain.requires_grad
    assert Power.apply(Tensor(X.astype(np.float32), requires_grad=True), 3).dtype == np.float32
    on_device = Tensor(fake_device.asarray(X), requires_grad=True)
    Exp.apply(on_device).sum().backward()
    assert type(grad_of(on_device)) is fake_device.FakeArray


def test_arrays_numbers_and_integers_as_outputs() -> None:
    class Parts(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(np.sign(x.numpy()).astype(int))
            return np.argmax(x.numpy()), abs(x.numpy())

        @staticmethod
        def backward(ctx: Any, _: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    x = leaf()
    index, size = Parts.apply(x)
    assert type(index) is Tensor and index.item() == 1 and not index.requires_grad
    (size * size).sum().backward(create_graph=True)
    np.testing.assert_allclose(grad_of(x), 2 * X)


def test_none_counts_as_nothing() -> None:
    class Stop(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None, g

    x, y = leaf(), leaf()
    Stop.apply(x, y).sum().backward()
    assert x.grad is None and grad_of(y).tolist() == [1, 1, 1]
    with pytest.raises(mg.GraphError, match=r"inputs\[0\].*not used"):
        mg.autograd_grad(Stop.apply(x, y).sum(), x)


def test_gradients_are_fitted_like_those_of_a_rule() -> None:
    """Un-broadcast, cast to the input's dtype, real for a real input."""

    class Add(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x + y * 1j

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g * 1j

    x, y = Tensor(np.float32(2.0), requires_grad=True), leaf()
    np.real(Add.apply(x, y)).sum().backward()
    assert grad_of(x).dtype == np.float32 and grad_of(x) == 3.0 and grad_of(y).tolist() == [0, 0, 0]


def wrong(backward: Any, save: Any = lambda x: (x,)) -> Any:
    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, n: int) -> Any:
            ctx.save_for_backward(*save(x))
            return x * n

    Wrong.backward = staticmethod(backward)  # type: ignore[method-assign]
    return Wrong


WRONG: dict[str, Any] = {
    "too few": (lambda ctx, g: g, ValueError, r"Wrong.backward returned 1 gradient.*2 argument.*\(x, n\)"),
    "too many": (lambda ctx, g: (g, None, None), ValueError, "returned 3 gradient"),
    "for a number": (lambda ctx, g: (g, g), ValueError, "a gradient for 'n', which was not a Tensor"),
    "shape": (lambda ctx, g: (g[:2], None), RuntimeError, r"rule of 'Wrong' gave a gradient of shape \(2,\)"),
    "no numbers": (lambda ctx, g: ("g", None), TypeError, "str"),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("backward", "kind", "message"), WRONG.values(), ids=WRONG)
def test_wrong_gradients(backward: Any, kind: type[Exception], message: str, create_graph: bool) -> None:
    x = leaf()
    with pytest.raises(kind, match=message) as error:
        wrong(backward).apply(x, 3).sum().backward(create_graph=create_graph)
    assert isinstance(error.value, mg.MinigradError) and x.grad is None


def test_a_second_derivative_is_right_or_refused() -> None:
    x = leaf()
    cut_off = wrong(lambda ctx, g: (Tensor(g.numpy() * 3), None))
    cut_off.apply(x, 3).sum().backward()
    np.testing.assert_array_equal(grad_of(x), np.full(3, 3.0))
    with pytest.raises(mg.GraphError, match=r"Wrong\.backward returned a gradient for 'x' that is cut off"):
        (cut_off.apply(x, 3) ** 2).sum().backward(create_graph=True)
    halfway = wrong(lambda ctx, g: (g * ctx.saved_tensors[0], None), save=lambda x: (x * 2,))
    (first,) = mg.autograd_grad(halfway.apply(x, 3).sum(), x, create_graph=True)  # right, and not yet differentiated
    np.testing.assert_array_equal(first.data, 2 * X)
    with pytest.raises(mg.GraphError, match=r"second derivative of Wrong .* kept ctx.saved_tensors\[0\]"):
        first.sum().backward()
    constant = wrong(lambda ctx, g: (np.zeros_like(g), None))
    (constant.apply(x, 3) ** 2).sum().backward(create_graph=True)


def test_hidden_tensors_are_refused() -> None:
    for call in (
        lambda: Power.apply(leaf(), 2, scale=leaf()),
        lambda: Power.apply([leaf()], 2),
        lambda: Power.apply(leaf(), {"n": leaf()}),
    ):
        with pytest.raises(mg.UnsupportedError, match=r"Power\.apply got a Tensor.*positional"):
            call()
    Power.apply(leaf(), 2, scale=Tensor(1.0))


def test_missing_methods() -> None:
    with pytest.raises(NotImplementedError, match="forward"):
        Function.apply(leaf())


def test_a_second_backward_needs_retain_graph() -> None:
    x = leaf()
    y = Exp.apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(grad_of(x), 2 * np.exp(X))
    with pytest.raises(mg.GraphError, match=r"'Exp'|'sum'"):
        y.backward()


def test_an_in_place_change_of_what_was_saved_is_found() -> None:
    x = leaf()
    y = Power.apply(x, 3).sum()
    x.data[0] = 77
    with pytest.raises(mg.GraphError, match="'x' of 'Power' has been changed"):
        y.backward()
    b = X.copy()
    p = Pair.apply(leaf(), b)[1].sum()
    b[0] = 77
    with pytest.raises(mg.GraphError, match="'y' of 'Pair' has been changed"):
        p.backward()


def test_an_output_that_backward_used_is_the_same_place_on_the_tape() -> None:
    x, y = leaf(), leaf()
    e, p = Pair.apply(x, y)
    (gx,) = mg.autograd_grad(p.sum(), x, create_graph=True)  # e y
    np.testing.assert_allclose(mg.autograd_grad(gx.sum(), e)[0].data, X)


@pytest.mark.usefixtures("no_gc")
@pytest.mark.sampled(5)
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("f", [lambda x: Power.apply(x, 3), Exp.apply, lambda x: Pair.apply(x, x)[1]])
def test_graphs_die_by_reference_counting(f: Any, create_graph: bool) -> None:
    x = leaf()
    y = f(x) * f(x * 1.0)
    refs = [weakref.ref(o) for o in (x, x.data, y, y.data)]
    y.sum().backward(create_graph=create_graph)
    if create_graph:
        assert x.grad is not None
        x.grad.sum().backward(create_graph=True)
    del x, y
    assert [ref() for ref in refs] == [None] * 4
    assert not any(type(o) is mg.Entry for o in gc.get_objects(generation=0))


def test_inside_a_trace_and_detect_anomaly() -> None:
    with mg.trace():
        y = Power.apply(leaf(), 3)
    y.sum().backward()
    assert "Power" in mg.draw_dot(y).to_dot()
    with (
        mg.detect_anomaly(),
        np.errstate(over="ignore"),
        pytest.raises(mg.AnomalyError, match="'Exp' made the first inf"),
    ):
        Exp.apply(leaf(1e4))
    with mg.detect_anomaly():
        y = wrong(lambda ctx, g: (g / 0.0, None)).apply(leaf(), 3).sum()
        with pytest.raises(mg.AnomalyError, match="derivative of 'Wrong' with respect to x made the first inf"):
            y.backward()


def test_a_number_or_a_list_is_a_gradient() -> None:
    """A number stands for an array of it, as for a rule; it must not hide that the gradient has lost ``g``."""
    x = leaf()
    (wrong(lambda ctx, g: (0.0, None)).apply(x, 3) + x).sum().backward(create_graph=True)
    assert grad_of(x).tolist() == [1, 1, 1]
    x = leaf()
    wrong(lambda ctx, g: ([1.0, 2.0, 3.0], None)).apply(x, 3).sum().backward()
    assert grad_of(x).tolist() == [1, 2, 3]
    with pytest.raises(mg.GraphError, match="cut off from the tape"):
        (wrong(lambda ctx, g: (2.0, None)).apply(x, 3) ** 2).sum().backward(create_graph=True)
