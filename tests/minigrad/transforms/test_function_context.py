"""What a Function's forward keeps in ``ctx``: a second derivative through it is right, or it raises."""

import functools
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import minigrad as mg
from minigrad import Function, Tensor
from tests import fake_device

X = np.array([0.5, 1.5, -2.0])


@dataclass(frozen=True)
class Kept:
    y: Any
    n: int = 3


class Both(NamedTuple):
    n: int
    y: Any


class Hidden(Both):
    """A namedtuple with attributes of its own."""


def hidden(y: Any) -> Hidden:
    made = Hidden(3, None)
    made.more = y  # type: ignore[attr-defined]
    return made


@dataclass(slots=True)
class Slots:
    y: Any


class Plain:
    """An object of a plain class."""

    def __init__(self, y: Any) -> None:
        self.inside = {"y": (y, 3)}


class Cycle(Plain):
    def __init__(self, y: Any) -> None:
        super().__init__(y)
        self.me = self


def exp(keep: Callable[[Any, Any, Any], None], read: Callable[[Any], Any], raw: bool = False) -> Any:
    """Return the exponential function, whose backward multiplies by what ``keep(ctx, x, y)`` has kept."""

    class Exp(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = np.exp(x.numpy() if raw else x)
            keep(ctx, x, y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * read(ctx)

    return Exp


def put(**made: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], None]:
    def keep(ctx: Any, x: Any, y: Any) -> None:
        for name, make in made.items():
            setattr(ctx, name, make(x, y))

    return keep


def append(ctx: Any, x: Any, y: Any) -> None:
    ctx.all = kept = []
    kept.append(y)


def plain(x: float) -> float:
    return x


RIGHT: dict[str, Any] = {
    "attribute": (put(y=lambda x, y: y), lambda ctx: ctx.y),
    "input": (put(x=lambda x, y: x), lambda ctx: np.exp(ctx.x)),
    "the input's array": (put(x=lambda x, y: x.numpy()), lambda ctx: np.exp(ctx.x)),
    "the input detached": (put(x=lambda x, y: x.detach()), lambda ctx: np.exp(ctx.x)),
    "list": (put(all=lambda x, y: [3, [y]]), lambda ctx: ctx.all[1][0]),
    "dict": (put(all=lambda x, y: {"y": y, "n": 3}), lambda ctx: ctx.all["y"]),
    "tuple": (put(all=lambda x, y: (x, y)), lambda ctx: ctx.all[1]),
    "namedtuple": (put(all=lambda x, y: Both(3, y)), lambda ctx: ctx.all.y),
    "dataclass": (put(kept=lambda x, y: Kept(y)), lambda ctx: ctx.kept.y),
    "dataclass with slots": (put(kept=lambda x, y: Slots(y)), lambda ctx: ctx.kept.y),
    "object": (put(kept=lambda x, y: Plain(y)), lambda ctx: ctx.kept.inside["y"][0]),
    "appended later": (append, lambda ctx: ctx.all[0]),
    "saved": (lambda ctx, x, y: ctx.save_for_backward(y), lambda ctx: ctx.saved_tensors[0]),
    "default": (put(y=lambda x, y: y), lambda ctx: getattr(ctx, "missing", ctx.y)),
    "constants": (put(n=lambda x, y: x.size // x.size, s=lambda x, y: x.shape, m=lambda x, y: x > -9, none=lambda x, y: None,
                      f=lambda x, y: np.exp, g=lambda x, y: math.exp, h=lambda x, y: plain, d=lambda x, y: x.dtype,
                      i=lambda x, y: np.argsort(x, axis=None), text=lambda x, y: "a", y=lambda x, y: y),
                  lambda ctx: ctx.y * ctx.m * ctx.n * ctx.f(0.0) * ctx.g(0.0) * ctx.h(1.0) + 0 * sum(ctx.s)),
}  # fmt: skip


@pytest.mark.parametrize("raw", [False, True], ids=["tensors", "arrays"])
@pytest.mark.parametrize(("keep", "read"), RIGHT.values(), ids=RIGHT)
def test_inputs_and_outputs_are_right_in_every_order(keep: Any, read: Any, raw: bool) -> None:
    f = exp(keep, read, raw).apply
    mg.check_grads(f, [X], order=3)
    np.testing.assert_allclose(mg.hessian(lambda x: f(x).sum())(X), np.diag(np.exp(X)))
    np.testing.assert_allclose(mg.jvp(mg.grad(lambda x: f(x).sum()), (X,), (X,))[1], np.exp(X) * X)
    for x in (np.float64(1.5), np.float32(1.5)):
        third = mg.grad(mg.grad(mg.grad(f)))(x)
        assert third.dtype == x.dtype
        np.testing.assert_allclose(third, np.exp(x), rtol=1e-6)
    checkpointed = functools.partial(mg.checkpoint, f)
    np.testing.assert_allclose(mg.hessian(lambda x: checkpointed(x).sum())(X), np.diag(np.exp(X)))


DOUBTFUL: dict[str, Any] = {
    "intermediate": (put(z=lambda x, y: y / 2), lambda ctx: ctx.z * 2),
    "view": (put(z=lambda x, y: y[...]), lambda ctx: ctx.z),
    "copy": (put(z=lambda x, y: [y.copy()]), lambda ctx: ctx.z[0]),
    "saved": (lambda ctx, x, y: ctx.save_for_backward(None, y * 2), lambda ctx: ctx.saved_tensors[1] / 2),
    "closure": (put(z=lambda x, y: lambda: y), lambda ctx: ctx.z()),
    "default of a function": (put(z=lambda x, y: lambda y=y: y), lambda ctx: ctx.z()),
    "partial": (put(z=lambda x, y: functools.partial(np.multiply, y)), lambda ctx: ctx.z(1.0)),
    "deque": (put(z=lambda x, y: deque([y])), lambda ctx: ctx.z[0]),
    "iterator": (put(z=lambda x, y: iter([y])), lambda ctx: next(ctx.z)),
    "generator": (put(z=lambda x, y: (part for part in [y])), lambda ctx: next(ctx.z)),
    "method": (put(z=lambda x, y: [y].copy), lambda ctx: ctx.z()[0]),
    "cycle": (put(z=lambda x, y: Cycle(y)), lambda ctx: ctx.z.me.inside["y"][0]),
    "attribute of a namedtuple": (put(z=lambda x, y: hidden(y)), lambda ctx: ctx.z.more),
    "slice": (put(z=lambda x, y: slice(y, None)), lambda ctx: ctx.z.start),
    "key": (put(z=lambda x, y: {y: 1}), lambda ctx: next(iter(ctx.z))),
    "subclass of list": (put(z=lambda x, y: type("L", (list,), {})([y])), lambda ctx: ctx.z[0]),
    "made array": (put(z=lambda x, y: np.ones(np.shape(x)), y=lambda x, y: y), lambda ctx: ctx.y * ctx.z),
}  # fmt: skip
READ: dict[str, Any] = {  # these need the numbers of a Tensor
    "array": (put(z=lambda x, y: np.exp(x.numpy())), lambda ctx: ctx.z),
    "float32": (put(z=lambda x, y: np.exp(x.numpy()).astype(np.float32)), lambda ctx: ctx.z),
    "numbers": (put(z=lambda x, y: [math.exp(v) for v in x.tolist()]), lambda ctx: np.array(ctx.z)),
    "bytes": (put(z=lambda x, y: np.exp(x.data).tobytes()), lambda ctx: np.frombuffer(ctx.z)),
    "objects": (put(z=lambda x, y: np.exp(x.data).astype(object)), lambda ctx: ctx.z.astype(float)),
    "written into": (lambda ctx, x, y: setattr(ctx, "z", np.multiply(y, 1.0, out=np.zeros(3))), lambda ctx: ctx.z),
}  # fmt: skip


@pytest.mark.parametrize(("keep", "read"), (DOUBTFUL | READ).values(), ids=DOUBTFUL | READ)
def test_other_values_give_first_derivatives_and_refuse_the_second(keep: Any, read: Any) -> None:
    f = exp(keep, read).apply
    total: Any = lambda x: f(x).sum()
    np.testing.assert_allclose(mg.grad(total)(X), np.exp(X), rtol=1e-6)
    if keep not in (DOUBTFUL["iterator"][0], DOUBTFUL["generator"][0]):
        np.testing.assert_allclose(mg.jvp(f, (X,), (X,))[1], np.exp(X) * X, rtol=1e-6)  # forward mode is of first order
    for second in (
        mg.hessian(total),
        lambda x: mg.jvp(mg.grad(total), (x,), (x,)),
        mg.grad(lambda x: mg.grad(total)(x)[0]),
    ):
        with pytest.raises(
            mg.GraphError,
            match=r"second derivative of Exp .* kept ctx\.(z|saved_tensors\[1\]).* inputs and outputs in ctx.* argument",
        ):
            second(X)


@pytest.mark.parametrize("read", [lambda y: y.item(), lambda y: float(y), lambda y: np.float64(y.numpy()) * 1.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers(read: Any, dtype: Any) -> None:
    f = exp(put(z=lambda x, y: read(y)), lambda ctx: ctx.z).apply
    assert mg.grad(f)(dtype(1.5)) == pytest.approx(math.exp(1.5))
    with pytest.raises(mg.GraphError, match=r"ctx\.z"):
        mg.grad(mg.grad(f))(dtype(1.5))


def test_a_gradient_that_is_recorded_but_not_differentiated_again_is_returned() -> None:
    """With a parameter around, ``grad`` records its sweep, and the caller may only want the numbers."""
    f = exp(put(z=lambda x, y: y / 2), lambda ctx: ctx.z * 2).apply
    w = Tensor(2.0, requires_grad=True)
    g = mg.grad(lambda x: (w * f(x)).sum())(X)
    np.testing.assert_allclose(g.numpy(), 2 * np.exp(X))
    np.testing.assert_allclose(mg.autograd_grad((g * g).sum(), w)[0].data, 4 * np.sum(np.exp(X) ** 2))  # linear in w
    with pytest.raises(mg.GraphError, match=r"ctx\.z"):
        mg.grad(lambda v: mg.grad(lambda x: f(x * v).sum())(X)[0])(2.0)


def scale(read: bool, constants: Callable[[Any, Any], Any]) -> Any:
    class Scale(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, weights: Any, power: float, *, factor: float = 1.0) -> Any:
            ctx.constants, ctx.x, ctx.w = constants(power, factor), x, weights
            return (x.numpy() if read else x) ** power * weights

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            power, one = ctx.constants
            return g * power * ctx.x ** (power - 1) * ctx.w * one, None, None

    return Scale


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("weights", [np.array([1.0, 2.0, 3.0]), Tensor([1.0, 2.0, 3.0]), 2.0])
def test_arguments_are_constants(read: bool, weights: Any) -> None:
    f = scale(read, lambda power, factor: [power, factor]).apply
    mg.check_grads(lambda x: f(x, weights, 3.0, factor=1.0), [X], order=2)


NUMBERS: list[Any] = [lambda p, f: (3.0, np.float64(1.0)), lambda p, f: (math.sqrt(9), np.float32(1))]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_a_number_is_a_constant_unless_the_forward_took_numbers_out_of_a_tensor(numbers: Any) -> None:
    mg.check_grads(lambda x: scale(False, numbers).apply(x, 2.0, 3), [X], order=2)
    total: Any = lambda x: scale(True, numbers).apply(x, 2.0, 3).sum()
    np.testing.assert_allclose(mg.grad(total)(X), 6 * X**2)
    with pytest.raises(mg.GraphError, match=r"kept ctx\.constants\[0\] and ctx\.constants\[1\]"):
        mg.hessian(total)(X)


def test_an_argument_into_which_forward_puts_a_result() -> None:
    class Keep(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, cache: Any, obj: Any) -> Any:
            y = np.exp(x)
            cache.append(y * 1.0)
            obj.y = y
            ctx.cache, ctx.obj = cache, obj
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * (ctx.obj.y if len(ctx.cache) == 0 else ctx.cache[0]), None, None

    np.testing.assert_allclose(mg.grad(lambda x: Keep.apply(x, [], Plain(0)))(0.5), np.exp(0.5))
    with pytest.raises(mg.GraphError, match=r"kept ctx\.cache\[0\], which"):
        mg.grad(mg.grad(lambda x: Keep.apply(x, [], Plain(0))))(0.5)


def test_several_outputs_and_a_shared_array() -> None:
    class Pair(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, c: Any) -> Any:
            ctx.all = [np.sin(x), np.cos(x)]
            ctx.c = c
            return tuple(ctx.all)

        @staticmethod
        def backward(ctx: Any, gs: Any, gc: Any) -> Any:
            s, c = ctx.all
            return gs * c - gc * s + 0 * ctx.c, None

    mg.check_grads(lambda x: Pair.apply(x, x.detach()), [X], order=3)
    mg.check_grads(lambda x: Pair.apply(x, 1.0)[1], [X], order=3)

    class Ambiguous(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, c: Any) -> Any:
            ctx.x = c.numpy()
            return x * c

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.x, None

    with pytest.raises(mg.GraphError, match=r"ctx\.x"):  # the array is that of x, too
        mg.grad(mg.grad(lambda x: Ambiguous.apply(x, x.detach())))(2.0)

    class Raw(Ambiguous):
        @staticmethod
        def forward(ctx: Any, x: Any, c: Any) -> Any:
            ctx.x = c
            return x * c

    with pytest.raises(mg.GraphError, match=r"ctx\.x"):
        mg.grad(mg.grad(lambda x: Raw.apply(x, x.numpy())))(2.0)


def test_a_function_inside_a_function() -> None:
    inner = exp(put(y=lambda x, y: y), lambda ctx: ctx.y)

    class Outer(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.x = x
            return inner.apply(x) * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * inner.apply(ctx.x) * (ctx.x + 1)

    mg.check_grads(Outer.apply, [X], order=3)


def test_a_change_in_place_of_an_output_that_an_attribute_keeps_is_found() -> None:
    x = Tensor(X, requires_grad=True)
    for keep, read in (RIGHT["attribute"], RIGHT["dict"]):
        y = exp(keep, read).apply(x)
        y.data[0] = 7.0
        with pytest.raises(mg.GraphError, match="the result of 'Exp' has been changed in place"):
            y.sum().backward()


def test_what_forward_kept_is_not_changed() -> None:
    kept: list[Any] = []

    def keep(ctx: Any, x: Any, y: Any) -> None:
        kept.append(y)
        ctx.all = kept

    f = exp(keep, lambda ctx: ctx.all[-1]).apply
    mg.grad(mg.grad(f))(1.5)
    assert all(not t.requires_grad for t in kept)


def test_backward_may_set_attributes_and_misses_those_that_forward_did_not_set() -> None:
    class Exp(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.y = np.exp(x)
            return ctx.y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            ctx.z = ctx.y * 1.0
            assert ctx.needs_input_grad == (True,) and ctx.saved_tensors == () and not hasattr(ctx, "nothing")
            return g * ctx.z

    mg.check_grads(Exp.apply, [X], order=2)


def test_a_tensor_with_a_node_of_its_own_stays_there() -> None:
    w = Tensor(1.0, requires_grad=True)
    f = exp(put(y=lambda x, y: y, w=lambda x, y: w), lambda ctx: ctx.y * ctx.w).apply
    mg.check_grads(f, [X], order=2)
    x = Tensor(X, requires_grad=True)
    (g,) = mg.autograd_grad(f(x).sum(), x, create_graph=True)
    np.testing.assert_allclose(mg.autograd_grad(g.sum(), w)[0].data, np.exp(X).sum())


def test_on_a_device() -> None:
    f = exp(put(z=lambda x, y: y / 2), lambda ctx: ctx.z * 2).apply
    x = Tensor(fake_device.asarray(X), requires_grad=True)
    (g,) = mg.autograd_grad(f(x).sum(), x, create_graph=True)
    assert type(g.data) is fake_device.FakeArray
    with pytest.raises(mg.GraphError, match=r"ctx\.z"):
        g.sum().backward()
