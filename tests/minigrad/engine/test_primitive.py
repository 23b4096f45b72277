"""Declaring primitives: a user's own operation is one function and one rule for each argument."""

import functools
import inspect
import sys
import weakref
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, GraphError, Tensor, UnsupportedError, check_grads, primitive
from minigrad.engine.plan import Plan
from minigrad.engine.registry import operators, registry
from minigrad.engine.signatures import parameters_of
from minigrad.rules import axes

X = np.array([0.5, 1.0, 2.0])


def test_a_rule_for_each_argument() -> None:
    area = primitive(lambda w, h, /, scale=1.0: w * h * scale, name="area").vjp(
        w=lambda g, h, scale: g * h * scale, h=lambda g, w, scale: g * w * scale
    )
    check_grads(lambda w, h: area(w, h, scale=3.0), [X, X[::-1]])
    check_grads(lambda w: area(w, 2.0), [X])
    assert area(X, X).tolist() == (X * X).tolist() and type(area(X, X)) is np.ndarray
    y = area(X, h=Tensor(X, requires_grad=True), scale=2)
    assert mg.tape(y)[0].primitive is area and mg.tape(y)[0].keywords["scale"] == 2 and repr(area) == "<primitive area>"


def test_arguments_named_by_the_rules() -> None:
    cube = primitive(lambda x: x * x * x, name="cube").vjp(x=lambda g, x: g * 3 * x * x)
    check_grads(cube, [X], 3)


def test_what_a_rule_can_ask_for() -> None:
    asked: list[Any] = []

    def rule(g: Any, ans: Any, x: Any, y: Any, x_shape: Any, y_shape: Any, n: int) -> Any:
        asked.append((ans, x, y, x_shape, y_shape, n))
        return g * n

    f = primitive(lambda x, y, /, n=2: n * x + 0 * np.sum(y), name="f").vjp(x=rule, y=None)
    f(Tensor(X, requires_grad=True), np.ones((2, 2))).sum().backward()
    ans, x, y, *rest = asked[0]
    assert (ans.tolist(), x.tolist(), y.tolist()) == ((2 * X).tolist(), X.tolist(), [[1, 1], [1, 1]])
    assert rest == [(3,), (2, 2), 2] and type(x) is np.ndarray


def test_an_argument_without_a_derivative() -> None:
    shift = primitive(lambda x, by, /: np.roll(x, by), name="shift").vjp(x=lambda g, by: np.roll(g.data, -by))
    x = Tensor(X, requires_grad=True)
    (shift(x, 1) * X).sum().backward()
    assert x.grad is not None and x.grad.tolist() == np.roll(X, -1).tolist()
    with pytest.raises(UnsupportedError, match=r"shift has no derivative with respect to 'by'.*t\.detach\(\)"):
        shift(X, Tensor(1.0, requires_grad=True))


def test_any_number_of_arguments() -> None:
    total = primitive(lambda *arrays: sum(arrays), name="total", bind=lambda *arrays: (arrays, {}))
    total.vjp_each(lambda g, i, args: g * np.ones_like(args[i]))
    check_grads(lambda a, b, c: total(a, b, c), [X, X, np.array(2.0)])


def test_several_outputs() -> None:
    Parts = namedtuple("Parts", "whole fraction")
    split = primitive(lambda x, /: Parts(np.floor(x), x - np.floor(x)), name="parts")
    split.vjp(x=lambda g: g.get(1, 0.0) + 0 * sum(g.values()))
    x = Tensor(X, requires_grad=True)
    parts = split(x)
    assert type(parts) is Parts and parts.whole.tolist() == [0, 1, 2] and parts.fraction.requires_grad
    (parts.fraction * 3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3, 3, 3]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_an_integer_among_several_outputs(order: list[int]) -> None:
    """It is no value to differentiate, wherever it stands; the others are."""

    def parts(x: Any, /) -> Any:
        return [[np.floor(x).astype(int), x - np.floor(x)][i] for i in order]

    split = primitive(parts, name="parts").vjp(x=lambda g: g[order.index(1)])
    x = Tensor(X, requires_grad=True)
    outputs = split(x)
    assert [t.requires_grad for t in outputs] == [t.dtype == float for t in outputs]
    (outputs[order.index(1)] * 3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3, 3, 3]


def test_a_kernel_is_used_and_can_decline() -> None:
    calls: list[str] = []

    def forward(x: Any, scale: float = 1.0) -> Any:
        if scale != 1.0:
            return NotImplemented
        calls.append("forward")
        return x * x, 2 * x

    def backward(g: Any, needs: Any, saved: Any) -> Any:
        calls.append("backward")
        return (g * saved,)

    f = primitive(lambda x, /, scale=1.0: x * x * scale, name="f").vjp(x=lambda g, x, scale: g * 2 * x * scale)
    f.kernel(np.ndarray, forward, backward)
    x: Any = Tensor(X, requires_grad=True)
    f(x).sum().backward()
    assert calls == ["forward", "backward"]
    with mg.reference_mode():
        f(x).sum().backward()
    f(x, scale=2.0).sum().backward()
    f(Tensor(np.arange(3))), f(x.astype(np.complex128))
    assert calls == ["forward", "backward"]
    np.testing.assert_array_equal(x.grad.data, 2 * X * (1 + 1 + 2))
    check_grads(f, [X])
    check_grads(lambda x: f(x, scale=3.0), [X])


def test_what_is_missing_is_named_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry, np.trapezoid, None)  # undone after the test
    mine = primitive(np.trapezoid, lambda y, x, /: np.trapezoid(y, x), name="mine").vjp(y=lambda g, y: g * y, x=None)
    with pytest.raises(UnsupportedError, match=r"needs x$"):
        mine(Tensor(X))


def test_a_kernel_without_a_backward_leaves_it_to_the_rules() -> None:
    calls: list[str] = []

    def forward(x: Any, scale: float = 1.0) -> Any:
        calls.append("forward")
        return NotImplemented if scale != 1.0 else (x * x, None)

    f = primitive(lambda x, /, scale=1.0: x * x * scale, name="f").vjp(x=lambda g, x, scale: g * 2 * x * scale)
    f.kernel(np.ndarray, forward)
    x: Any = Tensor(X, requires_grad=True)
    for scale in (1.0, 2.0):
        y = f(x, scale=scale)
        np.testing.assert_array_equal(y.data, X * X * scale)
        y.sum().backward()
    assert calls == ["forward", "forward"]
    np.testing.assert_array_equal(x.grad.data, 2 * X * (1 + 2))
    assert type(mg.tape(f(x))[-1].plan) is Plan  # that of the rules, which stretches ask for
    check_grads(f, [X])


def test_the_tape_keeps_what_the_rules_ask_for_and_no_more() -> None:
    x = Tensor(X, requires_grad=True)
    asked: list[tuple[Any, int]] = [(np.tanh, 1), (np.sum, 0)]
    asked += [(lambda y: y + 1.0, 0), (lambda y: y * y, 2), (lambda y: y[1:], 0)]
    for f, kept in asked:
        entry = mg.tape(f(x * 1.0))[-1]
        assert sum(isinstance(value, np.ndarray) for value in entry.kept or ()) == kept
    inner = x * 1.0
    array = weakref.ref(inner.data)
    y = inner + 1.0
    del inner
    assert array() is None and y.requires_grad


def test_a_rule_of_the_wrong_shape_is_named() -> None:
    wrong = primitive(lambda x, /: x * 2, name="wrong").vjp(x=lambda g: g[:2])
    x = Tensor(X, requires_grad=True)
    with pytest.raises(GraphError, match=r"'wrong'.*\(2,\).*\(3,\)"):
        wrong(x).sum().backward()
    assert x.grad is None


def test_rules_are_checked_when_they_are_declared() -> None:
    def f(x: Any, y: Any, /, axis: int = 0) -> Any:
        return x

    for rules in (
        {"x": lambda x: x}, {"x": lambda g, z: g}, {"x": lambda g, z_shape: g}, {"z": lambda g: g}, {"x": lambda: 0},
        {"x": lambda g, i: g}, {"x": lambda g, saved: g}, {"x": lambda g, X: g},
    ):  # fmt: skip
        with pytest.raises(ArgumentError):
            primitive(f, name="f").vjp(**rules)
    for reserved in ("g", "ans", "i", "args", "needs", "saved", "x_shape"):
        namespace: dict[str, Any] = {}
        exec(f"def named({reserved}, /): return 0", namespace)
        with pytest.raises(ArgumentError, match=f"'{reserved}'"):
            primitive(namespace["named"])
    with pytest.raises(ArgumentError):
        primitive(f, name="f").kernel(np.ndarray, f, lambda g, needs, z: (g,))
    with pytest.raises(ArgumentError):
        primitive(f, name="f").vjp_each(lambda g, z: g)


def test_a_numpy_function_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (np.cbrt, np.fliplr):
        monkeypatch.setitem(registry, function, None)  # restored afterwards
    faster: dict[Any, Any] = operators
    monkeypatch.setitem(faster, np.cbrt, faster[np.cbrt])
    cbrt = primitive(np.cbrt).vjp(x=lambda g, ans: g / (3 * ans * ans))
    primitive(np.fliplr).vjp(m=lambda g: np.fliplr(g))
    check_grads(np.cbrt, [X])
    check_grads(np.fliplr, [np.outer(X, X)])
    y: Any = np.cbrt(Tensor(X, requires_grad=True))
    assert mg.tape(y)[0].primitive is cbrt and cbrt.name == "cbrt"


def test_who_is_declared_last_stands_in_for_a_ufunc_however_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    x: Any = Tensor(X, requires_grad=True)
    books: tuple[dict[Any, Any], ...] = (registry, operators)
    for book in books:
        for ufunc in (np.cbrt, np.multiply):
            monkeypatch.setitem(book, ufunc, book[ufunc])  # restored afterwards
    root = primitive(np.cbrt, lambda x, /: x + 0.0).vjp(x=lambda g: g)
    product = primitive(np.multiply, lambda x, y, /: x + y).vjp(x=lambda g: g, y=lambda g: g)
    for answer, declared in ((np.cbrt(x), root), (x * x, product), (np.multiply(x, x), product)):
        assert mg.tape(answer)[0].primitive is declared


class Callables:
    def method(self, x: Any, /, k: float = 2.0) -> None: ...

    @classmethod
    def of_the_class(cls, x: Any, *, k: float = 2.0) -> None: ...

    def __call__(self, x: Any, y: int = 1) -> None: ...


def plain(x: Any, /, y: Any, axis: int = 0, *, keepdims: bool = False) -> None:
    """Of every kind of parameter that a rule or forward function has."""


@pytest.mark.parametrize(
    "function",
    [
        plain,
        lambda g: g,
        lambda *arrays, axis=0: arrays,
        functools.wraps(plain)(lambda *a, **k: None),
        axes.with_keywords(np.max, axis=None),
        Callables().method,
        Callables.of_the_class,
        functools.partial(plain, axis=1),
        Callables(),
    ],
    ids=["plain", "lambda", "variadic", "wrapped", "with a signature", "method", "classmethod", "partial", "object"],
)
def test_parameters_are_those_of_inspect(function: Any) -> None:
    given = inspect.signature(function).parameters.values()
    names, positional_only, defaults, by_place, collecting = parameters_of(function)
    assert list(names) == [p.name for p in given]
    assert list(positional_only) == [p.name for p in given if p.kind is p.POSITIONAL_ONLY]
    assert list(by_place) == [p.name for p in given if p.kind <= p.POSITIONAL_OR_KEYWORD]
    assert list(collecting) == [p.name for p in given if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    assert defaults == {p.name: p.default for p in given if p.default is not p.empty}


def test_a_primitive_shows_its_signature() -> None:
    assert str(inspect.signature(mg.softmax)) == "(x: Any, /, axis: int = -1) -> Any"
    assert not hasattr(mg.softmax, "something_else")


def test_a_tensor_by_keyword_is_refused_however_the_call_is_written() -> None:
    scaled = primitive(lambda x, /, scale=1.0: x * scale, name="scaled").vjp(x=lambda g, scale: g * scale)
    x, s = Tensor([1.0, 2.0], requires_grad=True), Tensor(3.0, requires_grad=True)
    with pytest.raises(UnsupportedError, match=r"plain values.*got a Tensor: use t\.item\(\)"):
        scaled(x, scale=s)
    with pytest.raises(UnsupportedError, match="plain values"):
        scaled(x, scale=s.detach())


def test_rules_that_are_declared_again_count_at_once() -> None:
    cube = primitive(lambda x: x * x * x, name="cubed").vjp(x=lambda g, x: g)
    assert mg.grad(cube)(2.0) == 1.0
    cube.vjp(x=lambda g, x: g * 3 * x * x)
    assert mg.grad(cube)(2.0) == 12.0
    with pytest.raises(ArgumentError, match="rules or a reference, not both"):
        cube.reference(lambda x: x**3)
    with pytest.raises(ArgumentError, match="rules or a reference, not both"):
        primitive(lambda x: x, name="same").reference(lambda x: x * 1).vjp(x=lambda g: g)


def test_a_reference_must_be_one_tensor_made_of_the_arguments() -> None:
    for composition in (lambda x: (x, x), lambda x: 3.0, lambda x: x.detach()):
        wrong = primitive(lambda x: x * 1.0, name="wrong").reference(composition)
        with pytest.raises(GraphError, match="the reference composition of 'wrong' must give one Tensor"):
            wrong(Tensor([1.0], requires_grad=True)).backward()


def test_an_operator_uses_the_kernel_of_its_ufunc() -> None:
    calls: list[Any] = []

    def forward(x: Any) -> Any:
        calls.append(x)
        return np.tanh(x), None

    tanh, operator = registry[np.tanh], operators[np.tanh]
    try:
        tanh.kernel(np.ndarray, forward, lambda g, needs, ans: (g * (1 - ans * ans),))
        x = Tensor([0.5], requires_grad=True)
        x.tanh().backward()
        assert len(calls) == 1 and x.grad is not None
        np.testing.assert_allclose(x.grad.data, 1 - np.tanh([0.5]) ** 2)
    finally:
        del tanh.kernels[np.ndarray]
        operators[np.tanh] = operator


def test_rules_see_several_outputs_alike_at_every_order() -> None:
    Pair = namedtuple("Pair", "whole rest")
    split = primitive(lambda x, /: Pair(np.floor(x).astype(int), x * x), name="pair_of").vjp(
        x=lambda g, ans, x: None if 1 not in (g or {}) else g[1] * 2 * x + 0 * ans.rest
    )
    x = Tensor([1.5, 2.0], requires_grad=True)
    found = split(x)
    assert type(found) is Pair and not found.whole.requires_grad
    (first,) = mg.autograd_grad(found.rest.sum(), x, create_graph=True)
    (second,) = mg.autograd_grad(first.sum(), x)
    np.testing.assert_array_equal(first.data, [3.0, 4.0])
    np.testing.assert_array_equal(second.data, [2.0, 2.0])


def test_a_plan_of_many_arguments_is_made_in_one_pass() -> None:
    """What is executed grows with the number of arguments, not with its cube."""

    def events(n: int) -> int:
        count = 0

        def trace(frame: Any, event: str, arg: Any) -> Any:
            nonlocal count
            count += event == "call"
            return None

        parts = [Tensor([1.0], requires_grad=True) for _ in range(n)]
        sys.setprofile(trace)
        try:
            np.concatenate(parts)
        finally:
            sys.setprofile(None)
        return count

    assert events(211) < 5 * events(53)


def test_a_call_keeps_what_the_rules_of_its_tracked_arguments_read() -> None:
    both = mg.primitive(lambda x, y, /: x * y, name="both").vjp(x=lambda g, y: g * y, y=lambda g, x: g * x)
    x, y, tracked = Tensor([2.0]), np.array([3.0]), mg.Tensor([5.0], requires_grad=True)
    entries: list[Any] = [both(tracked, y)._node, both(x, tracked)._node, both(tracked, tracked)._node]
    assert [entry.plan.names for entry in entries] == [["y"], ["x"], ["y", "x"]]
    assert [float(entry.kept[0][0]) for entry in entries] == [3.0, 2.0, 5.0]


def test_an_unknown_keyword_is_named() -> None:
    x = mg.Tensor(np.ones((2, 3)), requires_grad=True)
    with pytest.raises(mg.UnsupportedError, match="attention of a Tensor does not take nope=1"):
        mg.scaled_dot_product_attention(x, x, x, nope=1)
    others = mg.primitive(lambda x, y=None, /, **others: x * 1.0, name="others").vjp(x=lambda g: g)
    with pytest.raises(mg.UnsupportedError, match="others of a Tensor does not take foo=1"):
        others(x, foo=1)
